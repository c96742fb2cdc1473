# frozen_string_literal: true

require_relative "listing"
require_relative "object_table"
require_relative "selection"
require_relative "wrap"

module Heapline
  module Format
    # The Ruby objects of a snapshot for people: totals, and the table by class and line with the malloc figures of the
    # same line.
    class ObjectLines
      # top, sort (a key of Columns), min, directory: as for Text. by: nil, or :class, :gem, :file, :tag.
      def initialize(terminal, top:, sort:, min:, by: nil, directory: nil)
        @terminal = terminal
        @column = ObjectColumns.fetch(sort)
        @selection = Selection.new(top: top, sort: @column.figure, min: min)
        @by = by
        @directory = directory
      end

      # Lines without line ends. malloc: the Snapshot's sites (SiteCollection) that are shown beside them.
      def lines(objects, malloc)
        listing = Listing.new(objects.sums(@by || :site), column: @column, selection: @selection)
        return [*totals(objects), "  no object was made"] if listing.all.empty?

        [*totals(objects), "", *table(listing.shown, malloc),
         "  #{@terminal.style(listing.summary("site", @by), :dim)}"]
      end

      private

      def totals(objects)
        parts = ["live #{Units.count(objects.live)} in #{Units.bytes(objects.slot_bytes)} of slots",
                 "growth #{Units.count(objects.growth)}", "allocated #{Units.count(objects.allocated)}",
                 "freed #{Units.count(objects.freed)}", temporary(objects)].compact
        first, *rest = Wrap.parts(["objects  #{parts.first}", *parts.drop(1)], @terminal)
        [first.sub("objects", @terminal.style("objects", :bold)), *rest].map { |line| "  #{line}" }
      end

      def temporary(objects)
        "#{(100.0 * objects.temporary / objects.freed).round} % of these temporary" if objects.freed.positive?
      end

      def table(rows, malloc)
        ObjectTable.new(rows, sort: @column.key, terminal: @terminal, directory: @directory,
                              columns: columns(rows, malloc), dispensable: ObjectColumns::LEAST, named: @by.nil?,
                              name: (@by || "location").to_s).lines
      end

      # A class has no malloc figures: they are of lines.
      def columns(rows, malloc)
        return ObjectColumns.for(@column.key) if @by == :class

        ObjectColumns.beside(malloc, rows, sort: @column.key, by: @by)
      end
    end
  end
end
