# frozen_string_literal: true

require "test_helper"
require "heapline"

module Heapline
  # Without the preload; test/integration/heap_pages_test.rb has the rest.
  class HeapPagesTest < Minitest::Test
    def test_the_own_pages
      count = GC.count
      pages = Heapline.heap_pages
      assert_equal [Process.pid, count], [pages.pid, pages.generation]
      assert_operator pages.totals.live_slots, :>, 1000
      assert_equal [nil, [nil]], [pages.freed, pages.map(&:birth).uniq]
      assert_nil pages.flat_map { |page| page.holders.to_a }.first&.location
    end
  end
end
