# frozen_string_literal: true

require "test_helper"
require "heapline/accounting/flight"
require "support/flight_builder"

module Heapline
  module Accounting
    class OwnFiguresTest < Minitest::Test
      def test_the_object_heap_is_its_pages
        figures = OwnFigures.new(objects_at: Time.now, heap_pages: 10, heap_page_bytes: 65_536)
        assert_equal 655_360, figures.heap_bytes
        assert_predicate figures, :frozen?
      end

      UNTOLD = (2**64) - 1

      # The figures of a flight file whose process said this: see struct hl_figures.
      def figures(objects: [0] * 6, said: [0] * 5, arenas: [], trim: [0] * 3, **header)
        bytes = objects.pack("Q6") + said.pack("Q5") + [arenas.size, 0].pack("LL") +
                arenas.flatten.pack("Q*").ljust(512, "\0") + trim.pack("Q3")
        in_directory do |directory|
          return Flight.read(FlightBuilder.new(figures: bytes, **header).write("#{directory}/f.flight")).figures
        end
      end

      def test_from_a_flight_file
        found = figures(objects: [1_500_000_000, 10, 16_384, 300, 100, 12_000], said: [2, UNTOLD, 5, UNTOLD, 4],
                        arenas: [[100, 10], [200, 20]], trim: [3, 7, 6], large_bytes: 4096, allocator: "glibc 2.36")
        assert_equal [Time.at(0, 1_500_000_000, :nsec), 300, 100, 12_000],
                     found.to_h.values_at(:objects_at, :live_slots, :free_slots, :live_slot_bytes)
        assert_equal 163_840, found.heap_bytes
        assert_equal [4096, 5, nil, 4], found.to_h.values_at(:resident_bytes, :free_bytes, :metadata_bytes,
                                                             :returnable_bytes)
        assert_equal [[100, 10], [200, 20]], found.arenas.map(&:to_a)
        assert_equal [7, 6], [found.trim_before_bytes, found.trim_after_bytes]
      end

      # glibc's large blocks heapline counts itself; of any other allocator nothing is known until it was asked.
      def test_never_asked
        assert_nil figures.objects_at
        assert_equal 4096, figures(large_bytes: 4096, allocator: "glibc 2.36").resident_bytes
        assert_nil figures(allocator: "jemalloc 5.3.0").resident_bytes
        assert_equal 0, figures(large_bytes: -5, allocator: "glibc 2.36").resident_bytes
      end

      def test_what_nobody_asked_is_not_known
        assert_nil OwnFigures::NONE.heap_bytes
        assert_empty OwnFigures::NONE.arenas
      end
    end
  end
end
