# frozen_string_literal: true

require "test_helper"
require "support/page_lines"
require "heapline/model/location"
require "heapline/model/page_census"

module Heapline
  module Model
    class SparsePagesTest < Minitest::Test
      PLACE = Location.new(path: "app.rb", lineno: 12)

      def sparse(text = PAGE_LINES)
        census = PageCensus.new
        text.each_line { |line| census.add(line) }
        census.pages(locations: { 4 => PLACE }).sparse
      end

      def test_how_many
        assert_equal [2, 2 * 65_536, 7, 0.1], [sparse.size, sparse.bytes, sparse.objects, sparse.below]
        assert_equal [0x10000, 0x20000], sparse.map(&:address)
      end

      def test_which_can_be_emptied
        assert_equal([0x10000], sparse.movable.map(&:address))
        assert_nil sparse(UNMARKED_PAGE_LINES).movable
      end

      # The same class and line in two pages is one, the one in most pages first.
      def test_holders
        rows = sparse.holders.map { |one| [one.class_name, one.location&.to_s, one.objects, one.pinned, one.pages] }
        assert_equal [["Cart", "app.rb:12", 3, 1, 2], ["imemo_\e[31m", nil, 3, 3, 1], ["Cart", nil, 1, 0, 1]], rows
        assert_equal [nil], sparse(UNMARKED_PAGE_LINES).holders.map(&:pinned).uniq
      end

      # Several sites without a known line are one row: a page that both are in is one.
      def test_a_page_counts_once
        census = PageCensus.new
        PAGE_LINES.each_line { |line| census.add(line) }
        cart = census.pages.sparse.holders.first
        assert_equal ["Cart", 4, 2], [cart.class_name, cart.objects, cart.pages]
      end

      def test_none
        none = sparse(PAGE_LINES.lines.grep_v(/holders/).join)
        assert_equal [0, 0, [], nil], [none.size, none.objects, none.holders, none.movable]
      end
    end
  end
end
