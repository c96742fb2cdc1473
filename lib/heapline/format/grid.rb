# frozen_string_literal: true

require_relative "display_width"
require_relative "terminal"

module Heapline
  module Format
    # Aligned lines: figures right, and last a name that gets the room that is left. What the name is, a subclass says.
    class Grid
      GAP = "  "
      LEAST_NAME = 30
      LEAST_CUT = 7

      # rows: in the order in which they are shown. columns: each with key, title, value(row) and text(row). sort: key
      # of the column that is marked. dispensable: keys of columns, what goes first where the screen is narrow. name:
      # title of the last column.
      def initialize(rows, columns:, sort:, terminal:, dispensable: [], name: "location")
        @rows = rows
        @sort = sort
        @terminal = terminal
        @name = name
        @columns = fitting(columns, dispensable - [sort])
        @left_out = (columns - @columns).map(&:title)
      end

      # Titles of the columns for which there was no room.
      attr_reader :left_out

      # The heading and one line a row, without line ends.
      def lines
        [@terminal.style(heading, :bold), *@rows.map { |row| line(row) }]
      end

      private

      def heading
        figures = @columns.map { |column| title(column).rjust(width(column)) }
        "  #{[*figures, @name].join(GAP)}"
      end

      def title(column)
        column.key == @sort ? @terminal.sign("#{column.title}▼") : column.title
      end

      def line(row)
        figures = @columns.map { |column| figure(column, row) }
        "  #{[*figures, cell(row)].join(GAP)}"
      end

      def figure(column, row)
        text = column.text(row).rjust(width(column))
        column.key == @sort && column.value(row).positive? ? @terminal.style(text, :yellow) : text
      end

      def width(column)
        @widths ||= {}
        @widths[column.key] ||= [column.least, title(column).length, *@rows.map { |row| column.text(row).length }].max
      end

      # Columns are left out until the name has room.
      def fitting(columns, dispensable)
        @columns = columns
        dispensable.each do |key|
          break if room >= LEAST_NAME

          @columns = @columns.reject { |column| column.key == key }
        end
        @columns
      end

      # Columns of the screen that are left for the name.
      def room
        @terminal.width - 2 - @columns.sum { |column| width(column) + GAP.length }
      end

      # A text that keeps its end.
      def cut(text, limit)
        DisplayWidth.last(text, [limit, LEAST_CUT].max, sign: @terminal.sign("…"))
      end
    end
  end
end
