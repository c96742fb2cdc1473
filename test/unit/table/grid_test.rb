# frozen_string_literal: true

require "stringio"
require "test_helper"
require "heapline/table/grid"
require "heapline/table/selection"
require "support/snapshots"

module Heapline
  module Table
    class TopRowsTest < Minitest::Test
      include Snapshots

      def listing(*live, top: 20, min: 0)
        rows = live.each_with_index.map { |bytes, line| site("a.rb", line, live_bytes: bytes) }
        TopRows.new(rows, column: Figures::SiteFigures.fetch(:live),
                          selection: Selection.new(top: top, sort: :live_bytes, min: min))
      end

      def test_rows_with_nothing_are_shown_only_where_there_are_no_others
        assert_equal [3, 2], listing(2, 0, 3).shown.map(&:live_bytes)
        assert_equal [0, 0], listing(0, 0).shown.map(&:live_bytes)
        assert_equal [3, 2, 0], listing(2, 0, 3, top: 0).shown.map(&:live_bytes)
      end

      def test_the_summary_says_what_was_left_out
        assert_equal "3 sites, 1 shown; all: --top 0", listing(1, 2, 3, top: 1).summary("site")
        assert_equal "1 site, 1 shown", listing(1).summary("site")
        assert_equal "2 groups by gem, 2 shown", listing(1, 2).summary("site", :gem)
        assert_equal "1 site, 1 shown", listing(1, 2000, min: 1000).summary("site")
      end

      def test_what_was_selected_elsewhere_stays_as_it_is
        rows = [1, 3, 2].map { |bytes| site("a.rb", bytes, live_bytes: bytes) }
        listing = TopRows.new(rows, column: Figures::SiteFigures.fetch(:live), count: 9,
                                    selection: Selection.new(top: 2, sort: :live_bytes, min: 2))
        assert_equal [rows, "9 sites, 3 shown; all: --top 0"], [listing.shown, listing.summary("site")]
      end
    end

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
        terminal = Terminal::Output.new(StringIO.new, { "LANG" => "C.UTF-8" }, width: width)
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

    class RowsTest < Minitest::Test
      include Snapshots

      def lines(*sites, width: 100, directory: nil, sort: :growth)
        terminal = Terminal::Output.new(StringIO.new, { "COLUMNS" => width.to_s, "LANG" => "C.UTF-8" })
        Rows.new(sites, sort: sort, terminal: terminal, directory: directory).lines
      end

      def test_figures_are_aligned
        rows = lines(site("a.rb", 1, live_bytes: 1), site("b.rb", 2, live_bytes: 123_456_789))
        assert_equal 1, rows.drop(1).map { |row| row =~ /[ab]\.rb/ }.uniq.size
        assert_equal rows.first.index("location"), rows.last.index("b.rb")
      end

      def test_paths_are_short
        assert_match(%r{  lib/a.rb:1$}, lines(site("/app/lib/a.rb", 1), directory: "/app").last)
        assert_match(%r{  /app2/a.rb:1$}, lines(site("/app2/a.rb", 1), directory: "/app").last)
        assert_match(%r{  rack-2.0.1/lib/rack.rb:1$},
                     lines(site("/var/lib/gems/3.1.0/gems/rack-2.0.1/lib/rack.rb", 1)).last)
      end

      def test_columns_give_way_to_the_location
        refute_match(/allocs/, lines(site("a.rb", 1), width: 60).first)
        assert_match(/growth▼/, lines(site("a.rb", 1), width: 40).first)
        assert_match(/frees▼/, lines(site("a.rb", 1), width: 40, sort: :frees).first)
      end

      def test_wide_characters_take_two_columns
        rows = lines(site("/srv/#{"記憶" * 30}/漏れ.rb", 1, label: "Leak#漏れる", live_bytes: 9), width: 60)
        assert_operator Terminal::DisplayWidth.of(rows.last), :<=, 60
        assert_match(%r{憶/漏れ\.rb:1}, rows.last)
      end

      def test_the_tag_is_shown
        assert_match(/a.rb:1  \[orders#show\]$/, lines(site("a.rb", 1, tag: "orders#show")).last)
      end

      def test_no_lifespan_before_the_first_free
        assert_match(/ -  a.rb:1$/, lines(site("a.rb", 1)).last)
      end
    end
  end
end
