# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap_page"

module Heapline
  module Model
    class HeapPageTest < Minitest::Test
      def page(**fields)
        HeapPage.new(address: 0x10000, slot_bytes: 40, slots: 400, live_slots: 40, garbage_slots: 60, pinned_slots: 10,
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
    end
  end
end
