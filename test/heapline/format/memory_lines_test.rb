# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/smaps"
require "support/snapshots"
require "heapline/format/memory_lines"

module Heapline
  module Format
    class MemoryLinesTest < Minitest::Test
      include Smaps
      include Snapshots

      def lines(snapshot, memory = nil, ledger: nil)
        terminal = Terminal.new(StringIO.new, { "COLUMNS" => "200", "LANG" => "C.UTF-8" })
        MemoryLines.new(snapshot, memory, terminal, ledger: ledger).lines
      end

      # 52,220,000 live, 900,000 + 40,960 + 8 × 58,211 heapline's own.
      def test_the_parts_add_up_to_rss
        line = lines(leaky, Model::ProcessMemory.new(rss_bytes: 60_000_000)).first
        assert_equal [60.0, 52.22, 1.41, 6.37], line.scan(/([\d.]+) MB/).flatten.map(&:to_f)
      end

      # What is less than a hundredth of RSS is summed up.
      def test_a_ledger_adds_up_too
        figures = Model::Figures.new(objects_at: Time.now, heap_pages: 100, heap_page_bytes: 16_384, live_slots: 300,
                                     live_slot_bytes: 12_000, resident_bytes: 0, arenas: [])
        here = leaky.with(allocator: "glibc 2.36", figures: figures)
        ledger = Model::Ledger.new(here, Model::MemoryMap.parse(recorded("ruby31_threads")))
        rss, *parts = lines(here, ledger: ledger)[0, 2].join.scan(/(-?[\d.]+) (MB|kB)/).map do |number, unit|
          number.to_f * (unit == "MB" ? 1000 : 1)
        end
        assert_in_delta rss, parts.sum, 50
        assert_match(/RSS 48\.17 MB = malloc by Ruby lines 52\.22 MB · .*malloc not touched -.*rest \d/,
                     lines(here, ledger: ledger)[0, 2].join)
      end

      def test_a_peak_that_is_not_known_is_not_told
        refute_match(/peak/, lines(leaky.with(peak_bytes: nil)).join)
      end

      def test_nothing_allocated_has_no_share_of_temporary_blocks
        refute_match(/temporary/, lines(snapshot).join)
      end
    end
  end
end
