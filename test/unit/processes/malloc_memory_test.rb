# frozen_string_literal: true

require "test_helper"
require "support/smaps"
require "support/snapshots"
require "heapline/processes/ledger"

module Heapline
  module Processes
    class MallocMemoryTest < Minitest::Test
      include Smaps
      include Snapshots

      # 1 MiB of main heap is resident.
      def divide(anonymous, drill: false, blocks: 10, allocator: nil, **figures)
        parts = heap_of(1024)
        line = site("/g/gems/rack-1.0/a.rb", 1, live_bytes: 300_000, live_blocks: blocks)
        here = snapshot(line, allocator: allocator)
        MallocMemory.new(Accounting::OwnFigures.new(arenas: [], **figures), parts, here, anonymous, drill: drill)
      end

      def heap_of(resident, *rows)
        MemoryParts.new(map_of([0x1000, 0x201000, "rw-p", "[heap]", resident, ""], *rows))
      end

      def total(amounts)
        amounts.values.sum
      end

      def totals(malloc, *kinds)
        kinds.map { |kind| total(malloc.public_send(kind)) }
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

      # 40 MB live by libruby and 20 MB by a line, 20.48 MB are resident. Of the rest Ruby 3.2's transient heap has
      # 33.5 MB; on later Rubies all give up the same part.
      def test_the_transient_heap
        parts = heap_of(20_000)
        vm = Places::Location.new(library: "libruby.so.3.2")
        sites = [Accounting::Site.new(**Accounting::Site::ZERO, location: vm, kind: :native, live_bytes: 40_000_000),
                 site("/app/a.rb", 1, live_bytes: 20_000_000)]
        [true, false].product(["ruby 3.2.11", "ruby 3.4.1"]) do |drill, ruby|
          figures = Accounting::OwnFigures.new(arenas: [])
          malloc = MallocMemory.new(figures, parts, snapshot(*sites, ruby: ruby), 0, drill: drill)
          expected = ruby == "ruby 3.2.11" ? [33_554_432, 15_488_417, 4_991_583] : [0, 6_826_666, 13_653_334]
          assert_equal 39_520_000, malloc.untouched
          assert_equal expected, [malloc.transient, *totals(malloc, :ruby, :native)]
        end
      end

      def test_what_is_held_by_kind
        arenas = [Accounting::OwnFigures::Arena.new(2_097_152, 400_000),
                  Accounting::OwnFigures::Arena.new(135_168, 100_000)]
        malloc = divide(50_000, arenas: arenas, resident_bytes: 90_000, free_bytes: 500_000, metadata_bytes: 7)
        assert_equal({ "free in the main arena" => 400_000, "free in 1 other arena" => 100_000,
                       "headers, rounding, small caches" => 1_098_576 - 300_080 - 500_007,
                       "the allocator's own" => 7 }, malloc.held)
      end

      # 2 MB are free in the arenas, and not all of it is resident.
      def test_what_is_held_is_at_most_what_is_resident
        malloc = divide(50_000, arenas: [Accounting::OwnFigures::Arena.new(3_000_000, 2_000_000)],
                                resident_bytes: 90_000,
                                free_bytes: 2_000_000, metadata_bytes: 0)
        assert_equal 1_098_576 - 300_080, total(malloc.held)
        assert(malloc.held.values.none?(&:negative?))
      end

      # 200,000 blocks with records of 1.6 MB in 1 MiB.
      def test_live_memory_that_was_never_touched_is_not_resident
        malloc = divide(0, blocks: 200_000)
        assert_equal [300_000, 1_048_576, 0, 0], [malloc.untouched, *totals(malloc, :records, :ruby, :held)]
      end

      def test_mappings_of_large_blocks_that_were_never_touched
        malloc = divide(50_000, allocator: "glibc 2.36", resident_bytes: 250_000)
        assert_equal [200_000, 100_000], [malloc.untouched, total(malloc.ruby)]
        assert_equal 1_098_576, totals(malloc, :ruby, :native, :records, :held).sum
        assert_equal 0, divide(50_000, allocator: "jemalloc 5.3.0", resident_bytes: 250_000).untouched
      end

      # 100,000 bytes are not resident: of large blocks, which are 250,000 of the line's bytes.
      def test_who_has_the_large_blocks
        large = { resident_bytes: 250_000, space_bytes: 250_000, large_bytes: 250_000, large_ruby_bytes: 250_000 }
        malloc = divide(150_000, allocator: "glibc 2.36", **large)
        assert_equal [200_000, 0, 100_000], [total(malloc.ruby), malloc.shared, malloc.untouched]
      end

      # Two lines have 200,000 bytes of large blocks each, and 250,000 of these are not resident: each may have 150,000,
      # or nothing.
      def test_whose_large_blocks_were_touched_is_not_known
        sites = [site("/app/a.rb", 1, live_bytes: 300_000), site(nil, 0, library: "libx.so", live_bytes: 300_000)]
        sites[1] = Accounting::Site.new(**sites[1].to_h, kind: :native)
        figures = Accounting::OwnFigures.new(arenas: [], resident_bytes: 400_000, space_bytes: 400_000,
                                             large_bytes: 400_000, large_ruby_bytes: 200_000)
        malloc = MallocMemory.new(figures, heap_of(1024), snapshot(*sites, allocator: "glibc 2.36"), 150_000)
        assert_equal [[100_000, 100_000], 150_000], [totals(malloc, :ruby, :native), malloc.shared]
      end

      # Of the 500,000 bytes of its addresses 300,000 are not resident.
      def test_no_more_than_what_must_be_resident_is_the_allocators
        parts = heap_of(1024, [0x1000_0000, 0x1000_0000 + 409_600, "rw-p", "", 100, ""])
        figures = Accounting::OwnFigures.new(arenas: [], resident_bytes: 409_600, space_bytes: 409_600)
        malloc = MallocMemory.new(figures, parts, snapshot(allocator: "glibc 2.36"), 400_000)
        assert_equal 297_600, malloc.unclaimed
      end

      # 1,048,576 bytes of the heap's 2,097,152 are not resident, and free ones may be among them.
      def test_what_a_trim_gives_back_at_least
        parts = MemoryParts.new(map_of([0x1000, 0x201000, "rw-p", "[heap]", 1024, ""]), glibc: false)
        figures = Accounting::OwnFigures.new(arenas: [], resident_bytes: 1_000_000, returnable_bytes: 1_500_000)
        malloc = MallocMemory.new(figures, parts, snapshot(allocator: "tcmalloc 2.10"), 1_048_576)
        assert_equal 451_424..1_500_000, malloc.returnable
      end

      # Each gives up the same part.
      def test_whose_it_is_that_was_not_touched
        malloc = divide(50_000, allocator: "glibc 2.36", resident_bytes: 250_000, drill: true)
        assert_equal({ "rack" => 100_000 }, malloc.ruby)
      end

      def test_the_drill_down
        assert_equal({ "rack" => 300_000 }, divide(0, drill: true).ruby)
        assert_equal({ "live" => 300_000 }, divide(0).ruby)
      end

      # Of a million sites few are read, and what all of a kind hold.
      def test_the_drill_down_of_some_sites
        kinds = { ruby: ["(ruby)", 350_000], special: ["(JIT)", 7_000], native: ["(native)", 20_000] }
        kinds = kinds.map do |kind, (name, bytes)|
          Accounting::Site.new(**Accounting::Site::ZERO, kind: kind, live_bytes: bytes,
                                                         location: Places::Location.new(special: name))
        end
        some = snapshot.with(sites: [site("/g/gems/rack-1.0/a.rb", 1, live_bytes: 300_000)], row_count: 9, kinds: kinds)
        malloc = MallocMemory.new(Accounting::OwnFigures.new(arenas: []), heap_of(1024), some, 0, drill: true)
        assert_equal({ "rack" => 300_000, "(other sites)" => 50_000 }, malloc.ruby)
        assert_equal([{ "(JIT)" => 7_000 }, { "(other sites)" => 20_000 }], [malloc.jit, malloc.native])
      end
    end
  end
end
