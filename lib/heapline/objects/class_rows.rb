# frozen_string_literal: true

require_relative "object_figures"
require_relative "../table/grid"

module Heapline
  module Objects
    # Ruby objects as aligned lines: figures right, then their class, and last the location.
    class ClassRows < Table::Rows
      # Columns of the screen that a class's name takes at most; it keeps its end.
      WIDEST = 32

      # named: are the rows of one class each, which is shown before the location? The others as for Table::Rows.
      def initialize(sites, terminal:, named:, **others)
        @terminal = terminal
        @names = {}.compare_by_identity
        sites.each { |site| @names[site] = class_name(site) } if named
        @class_width = @names.values.map { |name| width_of(name) }.push(named ? "class".length : 0).max
        super(sites, terminal: terminal, **others)
        @name = "#{"class".ljust(@class_width)}#{GAP}#{@name}" if named
      end

      private

      def room
        @names.empty? ? super : super - @class_width - GAP.length
      end

      def cell(site)
        return super if @names.empty?

        @terminal.style(Terminal::DisplayWidth.fill(@names.fetch(site), @class_width), :cyan) + GAP + super
      end

      def class_name(site)
        cut(@terminal.inert(site.class_name || site.type || "(several)"), WIDEST)
      end
    end
  end
end
