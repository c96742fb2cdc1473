# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/format/columns"
require "heapline/format/listing"
require "heapline/format/selection"

module Heapline
  module Format
    class ListingTest < Minitest::Test
      include Snapshots

      def listing(*live, top: 20, min: 0)
        rows = live.each_with_index.map { |bytes, line| site("a.rb", line, live_bytes: bytes) }
        Listing.new(rows, column: Columns.fetch(:live), selection: Selection.new(top: top, sort: :live_bytes, min: min))
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
    end
  end
end
