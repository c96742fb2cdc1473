# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "sheet"

module Heapline
  # @api private
  module Table
    # A line of CSV as RFC 4180 has it: CRLF, quotes where they are needed. Names that a spreadsheet would take for a
    # formula begin with an apostrophe.
    module CsvLine
      FORMULA = /\A[=+\-@\t\r]/
      QUOTED = /[",\r\n]|\A | \z/

      # One line of `cells`: Strings are made inert and quoted, all else stands as it is.
      def self.of(cells)
        "#{cells.map { |value| cell(value) }.join(",")}\r\n"
      end

      # The text of one cell.
      def self.cell(value)
        value.is_a?(String) ? quoted(value) : value.to_s
      end

      def self.quoted(text)
        text = Inert.text(text)
        text = "'#{text}" if text.match?(FORMULA)
        text.match?(QUOTED) ? "\"#{text.gsub('"', '""')}\"" : text
      end
      private_class_method :quoted
    end

    # The tables of a Sheet as CSV (see CsvLine), with an empty line between them.
    class SheetCsv
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
        [[*names, *columns.map(&:key)].map(&:to_s), *cells].map { |line| CsvLine.of(line) }.join
      end

      def cell(value)
        value.is_a?(Symbol) ? value.to_s : value
      end
    end
  end
end
