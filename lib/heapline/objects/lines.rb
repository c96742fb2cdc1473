# frozen_string_literal: true

require_relative "../table/selection"
require_relative "class_rows"

module Heapline
  module Objects
    # The Ruby objects of a snapshot for people: totals, and the table by class and line with the malloc figures of the
    # same line.
    class Lines
      # top, sort (a key of SiteFigures), min, directory, all: as for Text. by: nil, or :class, :gem, :file, :tag.
      def initialize(terminal, top:, sort:, min:, by: nil, directory: nil, all: nil)
        @terminal = terminal
        @column = ObjectFigures.fetch(sort)
        @selection = Table::Selection.new(top: top, sort: @column.figure, min: min)
        @by = by
        @directory = directory
        @all = all
      end

      # Lines without line ends. malloc: the Snapshot's sites (SiteCollection) that are shown beside them.
      def lines(objects, malloc)
        listing = Table::TopRows.new(objects.sums(@by || :site), column: @column, selection: @selection)
        return [*totals(objects), "  no object was made"] if listing.all.empty?

        [*totals(objects), "", *table(listing.shown, malloc),
         "  #{@terminal.style(listing.summary("site", @by, all: @all), :dim)}"]
      end

      private

      def totals(objects)
        parts = ["live #{Units.count(objects.live)} in #{Units.bytes(objects.slot_bytes)} of slots",
                 "growth #{Units.count(objects.growth)}",
                 "allocated #{Units.count(objects.allocated)}",
                 "freed #{Units.count(objects.freed)}", temporary(objects)].compact
        first, *rest = @terminal.wrap(["objects  #{parts.first}", *parts.drop(1)])
        [first.sub("objects", @terminal.style("objects", :bold)), *rest].map { |line| "  #{line}" }
      end

      def temporary(objects)
        "#{(100.0 * objects.temporary / objects.freed).round} % of these temporary" if objects.freed.positive?
      end

      def table(rows, malloc)
        ClassRows.new(rows, sort: @column.key, terminal: @terminal, directory: @directory,
                            columns: columns(rows, malloc), dispensable: ObjectFigures::LEAST, named: @by.nil?,
                            name: (@by || "location").to_s).lines
      end

      # A class has no malloc figures: they are of lines.
      def columns(rows, malloc)
        return ObjectFigures.for(@column.key) if @by == :class

        ObjectFigures.beside(malloc, rows, sort: @column.key, by: @by)
      end
    end
  end
end
