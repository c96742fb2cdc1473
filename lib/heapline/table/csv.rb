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

      # Between the entries of a cell that is a list.
      ENTRIES = ";"

      # One line of `cells`: Strings and lists are made inert and quoted, all else stands as it is.
      def self.of(cells)
        "#{cells.map { |value| cell(value) }.join(",")}\r\n"
      end

      # The text of one cell.
      def self.cell(value)
        case value
        when String then quoted(value)
        when Array then quoted(value.join(ENTRIES))
        else value.to_s
        end
      end

      def self.quoted(text)
        text = Inert.text(text)
        text = "'#{text}" if text.match?(FORMULA)
        text.match?(QUOTED) ? "\"#{text.gsub('"', '""')}\"" : text
      end
      private_class_method :quoted
    end

    # The tables of a Sheet as one table of CSV (see CsvLine), which any tool can load: all lines have the cells of one
    # heading. Where there are several tables the first cell says which one a line is of, and what that does not have is
    # empty.
    class SheetCsv
      NAME = :table

      # Write the tables to `io`.
      def render(sheet, io)
        tables = sheet.parts.grep(Listing).map { |listing| [listing.key.to_s, columns(listing), rows(listing)] }
        return if tables.empty?

        several = tables.size > 1
        heading = tables.flat_map { |_, columns, rows| [*rows.flat_map(&:keys), *columns] }.uniq
        io.write(CsvLine.of([*(NAME.to_s if several), *heading.map(&:to_s)]))
        tables.each do |name, _, rows|
          rows.each { |row| io.write(CsvLine.of([*(name if several), *row.values_at(*heading)])) }
        end
      end

      private

      # Keys. Shares are not among them: who reads this can divide.
      def columns(listing)
        figures(listing).map(&:key)
      end

      def figures(listing)
        listing.columns.reject { |column| column.unit == :share }
      end

      # Array of Hash
      def rows(listing)
        figures = figures(listing)
        listing.rows.map do |row|
          { **listing.data.call(row), **figures.to_h { |column| [column.key, column.value(row)] } }
            .transform_values { |value| value.is_a?(Symbol) ? value.to_s : value }
        end
      end
    end
  end
end
