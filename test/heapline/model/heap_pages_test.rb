# frozen_string_literal: true

require "test_helper"
require "support/page_lines"
require "heapline/model/page_census"

module Heapline
  module Model
    class HeapPagesTest < Minitest::Test
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
        assert_equal "#<Heapline::Model::HeapPages 5 pages, 1607 of 4000 slots live>", pages.inspect
        assert_predicate pages, :frozen?
      end
    end
  end
end
