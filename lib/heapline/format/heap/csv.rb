# frozen_string_literal: true

require_relative "../csv"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # The tables of a Sheet as CSV (see Format::Csv), with an empty line between them.
      class Csv
        # Write the tables to `io`.
        def render(sheet, io)
          io.write(sheet.parts.grep(Listing).map { |listing| table(listing) }.join("\r\n"))
        end

        private

        def table(listing)
          columns = listing.columns.reject { |column| column.unit == :share }
          rows = listing.rows.map { |row| listing.data.call(row) }
          names = rows.flat_map(&:keys).uniq
          cells = rows.zip(listing.rows).map do |data, row|
            [*data.values_at(*names).map { |value| cell(value) }, *columns.map { |column| column.value(row) }]
          end
          [[*names, *columns.map(&:key)].map(&:to_s), *cells].map { |line| Format::Csv.line(line) }.join
        end

        def cell(value)
          value.is_a?(Symbol) ? value.to_s : value
        end
      end
    end
  end
end
