# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/grid"

module Heapline
  module Format
    class GridTest < Minitest::Test
      Row = Struct.new(:figure, :name)
      Column = Struct.new(:key, :title, :least) do
        def value(row) = row.figure
        def text(row) = row.figure.to_s
      end
      # Rows with a name that needs no more than what Grid offers.
      class Names < Grid
        def cell(row) = cut(row.name, room)
      end

      def lines(width, *rows, columns: [Column.new(:size, "size", 0), Column.new(:more, "more", 6)])
        terminal = Terminal.new(StringIO.new, { "LANG" => "C.UTF-8" }, width: width)
        options = { columns: columns, sort: :size, terminal: terminal, dispensable: %i[size more] }
        @grid = Names.new(rows, name: "what", **options)
        @grid.lines
      end

      def test_figures_right_and_the_name_last
        assert_equal ["  size▼    more  what", "      7       7  a", "  12345   12345  b"],
                     lines(80, Row.new(7, "a"), Row.new(12_345, "b"))
      end

      def test_the_name_is_cut_at_its_beginning
        assert_equal "      7  …lmnopqrstuvwxyz", lines(25, Row.new(7, [*"a".."z"].join)).last
      end

      def test_what_is_dispensable_goes_but_never_the_sorted_column
        assert_equal "  size▼  what", lines(30, Row.new(7, "a")).first
        assert_equal ["more"], @grid.left_out
        lines(80, Row.new(7, "a"))
        assert_empty @grid.left_out
      end
    end
  end
end
