# frozen_string_literal: true

require "test_helper"
require "support/page_lines"
require "heapline/heap/page_census"
require "heapline/places/location"
require "heapline/heap/pages"

module Heapline
  module Heap
    class PagesTest < Minitest::Test
      def page(**fields)
        Page.new(address: 0x10000, slot_bytes: 40, slots: 400, live_slots: 40, garbage_slots: 60, pinned_slots: 10,
                 **fields)
      end

      def test_parts
        assert_equal [300, 0.1, 0.25, false], [page.free_slots, page.share, page.pinned_share, page.reserve?]
      end

      def test_what_is_not_told
        assert_nil page(pinned_slots: nil).pinned_share
        assert_nil page(live_slots: 0).pinned_share
        assert_equal 360, page(garbage_slots: nil).free_slots
      end

      def test_a_page_in_reserve
        reserve = page(slots: 0, live_slots: 0, garbage_slots: 0, pinned_slots: 0)
        assert_equal [0, 0.0, true], [reserve.free_slots, reserve.share, reserve.reserve?]
      end

      def pages(text = PAGE_LINES)
        census = PageCensus.new
        text.each_line { |line| census.add(line) }
        census.pages
      end

      def test_totals
        all = pages.totals
        assert_equal [nil, 5, 4000, 1607, 607, 1786, 84, 5 * 65_536],
                     [all.slot_bytes, all.pages, all.slots, all.live_slots, all.garbage_slots, all.free_slots,
                      all.pinned_slots, all.bytes]
        assert_equal all.slots, all.live_slots + all.garbage_slots + all.free_slots
        assert_equal [3, 0, 0, 0, 0, 0, 0, 0, 0, 1], all.fill
      end

      def test_by_slot_size
        assert_equal [[40, 2, 3200], [160, 2, 800]],
                     (pages.by_slot_size.map { |sums| [sums.slot_bytes, sums.pages, sums.slots] })
        assert_equal([0x40000], pages.reserve.map(&:address))
      end

      def test_sums_of_what_is_not_told
        all = pages(UNMARKED_PAGE_LINES).by_slot_size.first
        assert_equal [nil, nil, 1603], [all.garbage_slots, all.pinned_slots, all.live_slots]
      end

      def test_sparse_pages_have_a_limit
        assert_equal [2, 1], [pages.sparse.size, pages.sparse(below: 0.01).size]
        [0, -1, 0.51].each { |below| assert_raises(ArgumentError) { pages.sparse(below: below) } }
      end

      def test_enumerable
        assert_equal 5, pages.each.count
        assert_equal "#<Heapline::Heap::Pages 5 pages, 1607 of 4000 slots live>", pages.inspect
        assert_predicate pages, :frozen?
      end

      PLACE = Places::Location.new(path: "app.rb", lineno: 12)

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

    class SpansTest < Minitest::Test
      def test_of_a_header
        spans = Spans.of({ count: 4, sum: 20, squares: 120, least: 2, most: 8 })
        assert_equal [4, 2, 8, 5.0], [spans.count, spans.min, spans.max, spans.mean]
        assert_in_delta Math.sqrt(5), spans.stddev
        assert_predicate spans, :frozen?
      end

      def test_of_one
        assert_in_delta 0.0, Spans.of({ count: 1, sum: 3, squares: 9, least: 3, most: 3 }).stddev
      end

      def test_squares_that_cannot_be_summed
        spans = Spans.of({ count: 2, sum: 2**40, squares: (2**64) - 1, least: 2, most: (2**32) - 1 })
        assert_equal [2.0**39, nil], [spans.mean, spans.stddev]
      end

      def test_without_any
        spans = Spans.of({ count: 0, sum: 0, squares: 0, least: 0, most: 0 })
        assert_equal [0, nil, nil, nil, nil], [spans.count, spans.min, spans.max, spans.mean, spans.stddev]
      end
    end
  end
end
