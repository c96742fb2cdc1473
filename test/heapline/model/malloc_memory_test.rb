# frozen_string_literal: true

require "test_helper"
require "support/smaps"
require "support/snapshots"
require "heapline/model/ledger"

module Heapline
  module Model
    class MallocMemoryTest < Minitest::Test
      include Smaps
      include Snapshots

      # 1 MiB of main heap is resident.
      def divide(anonymous, drill: false, blocks: 10, **figures)
        parts = MemoryParts.new(map_of([0x1000, 0x201000, "rw-p", "[heap]", 1024, ""]))
        here = snapshot(site("/g/gems/rack-1.0/a.rb", 1, live_bytes: 300_000, live_blocks: blocks))
        MallocMemory.new(Figures.new(arenas: [], **figures), parts, here, anonymous, drill: drill)
      end

      def total(amounts)
        amounts.values.sum
      end

      def test_all_that_is_resident_is_divided
        malloc = divide(50_000)
        assert_equal([300_000, 0, 80], [malloc.ruby, malloc.native, malloc.records].map { |amounts| total(amounts) })
        assert_equal 1_048_576 + 50_000 - 300_000 - 80, total(malloc.held)
      end

      # An allocator that tells nothing maps all anonymous memory that is known to be no one's.
      def test_the_allocator_claims_what_it_says
        assert_equal 0, divide(50_000).unclaimed
        assert_equal 50_000, divide(50_000, resident_bytes: 0).unclaimed
        assert_equal 20_000, divide(50_000, resident_bytes: 30_000).unclaimed
        assert_equal 0, divide(50_000, resident_bytes: 90_000).unclaimed
      end

      def test_what_is_held_by_kind
        arenas = [Figures::Arena.new(2_097_152, 400_000), Figures::Arena.new(135_168, 100_000)]
        malloc = divide(50_000, arenas: arenas, resident_bytes: 90_000, free_bytes: 500_000, metadata_bytes: 7)
        assert_equal({ "free in the main arena" => 400_000, "free in 1 other arenas" => 100_000,
                       "headers, rounding, small caches" => 2_322_320 - 500_000 - 7 - 300_080,
                       "the allocator's own" => 7, "of malloc not resident" => 1_098_576 - 2_322_320 }, malloc.held)
        assert_equal 1_098_576 - 300_080, total(malloc.held)
      end

      def test_live_memory_that_was_never_touched_is_not_resident
        assert_operator total(divide(0, blocks: 200_000).held), :<, 0
      end

      def test_the_drill_down
        assert_equal({ "rack" => 300_000 }, divide(0, drill: true).ruby)
        assert_equal({ "live" => 300_000 }, divide(0).ruby)
      end
    end
  end
end
