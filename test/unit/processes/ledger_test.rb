# frozen_string_literal: true

require "test_helper"
require "support/smaps"
require "support/snapshots"
require "heapline/processes/ledger"

module Heapline
  module Processes
    class LedgerTest < Minitest::Test
      include Smaps
      include Snapshots

      KEYS = %i[objects_live objects_free malloc_ruby malloc_native malloc_older malloc_held heapline stacks jit code
                other remainder].freeze

      def ledger(text, allocator: "glibc 2.36", drill: false, figures: nil)
        Ledger.new(leaky.with(allocator: allocator, figures: figures), MemoryMap.parse(text), drill: drill)
      end

      def figures(**more)
        Accounting::OwnFigures.new(objects_at: Time.now, heap_pages: 100, heap_page_bytes: 16_384, live_slots: 300,
                                   free_slots: 100,
                                   live_slot_bytes: 12_000, arenas: [], **more)
      end

      def assert_adds_up(ledger)
        assert_equal ledger.rss_bytes, ledger.lines.sum(&:bytes)
        assert(ledger.lines.flat_map { |line| [line, *line.parts] }.none? { |line| line.bytes.negative? })
        ledger.lines.each do |line|
          assert_equal line.bytes, line.parts.sum(&:bytes), line.name unless line.parts.empty? && line.bytes.zero?
        end
      end

      # What lived before a late start is no memory that was freed; of it no more than there is.
      def test_what_was_there_before
        plain, some, all = [nil, 500_000, 1 << 40].map do |bytes|
          older = bytes && Accounting::OlderMemory.new(bytes: bytes, bytes_freed: 100_000)
          Ledger.new(snapshot(site("a.rb", 1, live_bytes: 1000, live_blocks: 1), older: older),
                     MemoryMap.parse(recorded("ruby40_yjit")))
        end
        held = plain[:malloc_held].bytes
        assert_operator held, :>, 400_000
        assert_equal([[0, held], [400_000, held - 400_000], [held, 0]],
                     [plain, some, all].map { |one| [one[:malloc_older].bytes, one[:malloc_held].bytes] })
        [some, all].each { |one| assert_adds_up(one) }
      end

      { "ruby31_threads" => "glibc 2.36", "ruby31_jemalloc" => "jemalloc 5.3.0",
        "ruby40_yjit" => "glibc 2.36" }.each do |name, allocator|
        define_method("test_#{name}_adds_up") do
          text = recorded(name)
          [nil, figures, figures(resident_bytes: 1_000_000), figures(resident_bytes: 1 << 40, free_bytes: 5_000_000)]
            .each { |known| assert_adds_up ledger(text, allocator: allocator, figures: known, drill: true) }
        end
      end

      def test_the_keys_are_all_there
        assert_equal KEYS, ledger(recorded("ruby31_threads")).to_h.keys
        assert_equal KEYS, ledger(smaps).to_h.keys
      end

      def test_the_object_heap
        lines = ledger(recorded("ruby31_threads"), figures: figures).to_h
        assert_equal [12_000, 1_638_400 - 12_000], lines.values_at(:objects_live, :objects_free)
      end

      # More pages than there is memory: the rest is swapped out.
      def test_an_object_heap_that_is_not_resident
        small = smaps([0x1000, 0x9000, "rw-p", "", 8, ""])
        assert_equal [8192, 0], ledger(small, figures: figures).to_h.values_at(:objects_live, :objects_free)
      end

      # 10 MiB that no one claims, in a mapping of 32 MiB.
      def test_the_transient_heap_of_old_rubies
        text = smaps([0x1000_0000, 0x1200_0000, "rw-p", "", 10_240, ""], [0x2000_0000, 0x2000_9000, "rw-p", "", 8, ""])
        map = MemoryMap.parse(text)
        lines = { "ruby 3.1.2p20" => [10_485_760, 8192], "ruby 3.4.1" => [0, 10_493_952] }
        lines.each do |ruby, expected|
          known = leaky.with(ruby: ruby, allocator: "glibc 2.36",
                             figures: Accounting::OwnFigures.new(resident_bytes: 0, arenas: []))
          assert_equal expected, Ledger.new(known, map).to_h.values_at(:other, :remainder)
        end
      end

      def test_any_line_by_its_key
        found = ledger(recorded("ruby40_yjit"))
        assert_equal "JIT", found[:jit].name
        assert_equal 16_384, found[:jit].bytes
      end

      def test_this_process
        assert_adds_up Ledger.read(leaky.with(pid: Process.pid, state: :running))
      end

      def test_a_process_that_is_gone_has_none
        assert_nil Ledger.read(leaky)
        assert_nil Ledger.read(leaky.with(pid: (2**22) + 1, state: :running))
        refute_nil Ledger.read(leaky.with(pid: Process.pid), alive: true)
      end
    end
  end
end
