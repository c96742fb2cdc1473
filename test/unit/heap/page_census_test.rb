# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "support/page_lines"
require "heapline/heap/page_census"

module Heapline
  module Heap
    class PageCensusTest < Minitest::Test
      def census(text = PAGE_LINES)
        PageCensus.new.tap { |census| text.each_line { |line| census.add(line) } }
      end

      def test_the_process_and_its_pages
        pages = census.pages
        assert_equal [4711, "ruby 3.4.1 (2026) [x86_64-linux]", "2026-11-21T10:00:00Z", 40, 65_536, 5, nil],
                     [pages.pid, pages.ruby, pages.time, pages.generation, pages.page_bytes, pages.size, pages.freed]
        assert_equal [0x10000, 0x20000, 0x30000, 0x40000, 0x50000], pages.map(&:address)
        assert(pages.all?(&:frozen?))
      end

      def test_a_page
        page = census.pages.first
        assert_equal [12, 40, 1600, 3, 597, 1000, 0], page.to_h.values_at(:birth, :slot_bytes, :slots, :live_slots,
                                                                          :garbage_slots) + [page.free_slots,
                                                                                             page.pinned_slots]
        assert_equal [["Cart", false, nil, 2, 0, 1], ["Cart", false, nil, 1, 0, 1]], page.holders.map(&:to_a)
      end

      def test_what_is_not_known
        unborn, reserve = census.pages.to_a[2, 2]
        assert_equal [nil, nil], [unborn.birth, unborn.holders]
        assert_equal [30, true, 0], [reserve.birth, reserve.reserve?, reserve.pinned_slots]
        old = census(UNMARKED_PAGE_LINES).pages
        assert_equal [nil, nil, nil], [old.first.garbage_slots, old.first.pinned_slots, old.first.holders.first.pinned]
      end

      def test_with_the_flight_of_its_process
        builder = FlightBuilder.new(heap_page_figures: [2, 9, 53, 2, 7].pack("QQQLL"))
        builder.count(0, builder.ruby_site("app.rb", 12, label: "Cart#add"), allocations: 1, bytes_allocated: 40)
        in_directory do |directory|
          path = File.join(directory, "4711-1.flight")
          File.binwrite(path, builder.to_s)
          pages = census.with_flight(path)
          assert_equal(["app.rb:12", nil], pages.first.holders.map { |one| one.location&.to_s })
          assert_equal [2, 4.5, 2, 7], [pages.freed.count, pages.freed.mean, pages.freed.min, pages.freed.max]
        end
      end

      def test_other_lines
        ["{", "[]", "{}", "7"].each { |line| assert_raises(FlightError) { PageCensus.new.add(line) } }
        first, second, third = PAGE_LINES.lines
        [third, first + third, first + second + third.sub("0x50000", "x"),
         first + second + third.sub("}", %(,"holders":[[9,0,1,0]]}))].each do |text|
          assert_raises(FlightError, text) { census(text).pages }
        end
      end
    end
  end
end
