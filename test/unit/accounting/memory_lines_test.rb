# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/smaps"
require "support/snapshots"
require "heapline/accounting/memory_lines"

module Heapline
  module Accounting
    class MemoryLinesTest < Minitest::Test
      include Smaps
      include Snapshots

      def lines(snapshot, memory = nil, ledger: nil)
        terminal = Terminal::Output.new(StringIO.new, { "COLUMNS" => "200", "LANG" => "C.UTF-8" })
        MemoryLines.new(snapshot, memory, terminal, ledger: ledger).lines
      end

      # 52,220,000 live, 900,000 + 40,960 + 8 × 58,211 heapline's own.
      def test_the_parts_add_up_to_rss
        line = lines(leaky, Processes::ProcessMemory.new(rss_bytes: 60_000_000)).first
        assert_equal [60.0, 52.22, 1.41, 6.37], line.scan(/([\d.]+) MB/).flatten.map(&:to_f)
      end

      # What is less than a hundredth of RSS is summed up.
      def test_a_ledger_adds_up_too
        figures = OwnFigures.new(objects_at: Time.now, heap_pages: 100, heap_page_bytes: 16_384, live_slots: 300,
                                 live_slot_bytes: 12_000, resident_bytes: 0, arenas: [])
        here = leaky.with(allocator: "glibc 2.36", figures: figures)
        ledger = Processes::Ledger.new(here, Processes::MemoryMap.parse(recorded("ruby31_threads")))
        text = lines(here, ledger: ledger)[0, 3].join(" ")
        rss, *parts = text.sub(/not in RSS: .*/, "").scan(/(-?[\d.]+) (MB|kB)/).map do |number, unit|
          number.to_f * (unit == "MB" ? 1000 : 1)
        end
        assert_in_delta rss, parts.sum, 50
        assert_match(/RSS 48\.17 MB = malloc by Ruby lines 31\.50 MB · .*rest \d.*not in RSS: 20\.72 MB that/, text)
      end

      # 60 stacks of threads.
      def test_whose_large_blocks_were_not_touched
        stacks = site("socket.rb", 457, live_bytes: 62_914_560, live_blocks: 60)
        others = site("a.rb", 1, live_bytes: 90_000, live_blocks: 900)
        figures = OwnFigures.new(resident_bytes: 63_000_000, arenas: [])
        here = snapshot(stacks, others, allocator: "glibc 2.36", figures: figures)
        ledger = Processes::Ledger.new(here, Processes::MemoryMap.parse(recorded("ruby31_threads")))
        assert_match(/the program has not touched, in large blocks as of socket\.rb:457 \(62\.91 MB\)/,
                     lines(here, ledger: ledger).join(" "))
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
