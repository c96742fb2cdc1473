# frozen_string_literal: true

require_relative "comparison_columns"
require_relative "listing"
require_relative "object_table"
require_relative "selection"
require_relative "wrap"

module Heapline
  module Format
    # The changes of a Model::Comparison as a table, and what they come to.
    class ComparisonTable
      # column: the one of `columns` that is sorted. top, min, by, directory: as for ComparisonText. named: are the rows
      # of one class of objects each?
      def initialize(terminal, column, columns:, top:, min:, by:, directory:, named: false)
        @terminal = terminal
        @column = column
        @columns = columns
        @selection = Selection.new(top: top, sort: column.figure, min: min)
        @by = by
        @options = { directory: directory, named: named, name: named || by.nil? ? "location" : by.to_s }
      end

      # rows: Array of Changes::Change.
      def lines(rows)
        listing = Listing.new(rows, column: @column, selection: @selection)
        return ["  nothing differs"] if listing.all.empty?

        table = ObjectTable.new(listing.shown, sort: @column.key, terminal: @terminal, columns: columns(listing.all),
                                               dispensable: ComparisonColumns::LEAST, **@options)
        [*table.lines, *summary(listing)]
      end

      private

      # A growth log knows of no calls: columns without any figure are left out.
      def columns(rows)
        @columns.reject do |column|
          ComparisonColumns::LEAST.include?(column.key) && column.key != @column.key &&
            rows.all? { |row| column.value(row).zero? }
        end
      end

      def summary(listing)
        all = listing.all
        what = "#{@by ? "group" : "site"}#{"s" if all.size != 1}"
        grown, shrunk = all.map { |row| growth.value(row) }.reject(&:zero?).partition(&:positive?)
        parts = ["#{Units.count(all.size)} #{what} with a difference: #{Units.count(grown.size)} grew by " \
                 "#{growth.print(grown.sum)}", "#{Units.count(shrunk.size)} shrank by #{growth.print(-shrunk.sum)}",
                 "#{Units.count(listing.shown.size)} shown#{"; all: --top 0" if listing.shown.size < all.size}"]
        Wrap.parts(parts, @terminal).map { |line| "  #{@terminal.style(line, :dim)}" }
      end

      def growth
        @columns.first
      end
    end
  end
end
