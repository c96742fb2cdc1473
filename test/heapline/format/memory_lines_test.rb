# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/snapshots"
require "heapline/format/memory_lines"

module Heapline
  module Format
    class MemoryLinesTest < Minitest::Test
      include Snapshots

      def lines(snapshot, memory = nil)
        MemoryLines.new(snapshot, memory, Terminal.new(StringIO.new, { "COLUMNS" => "200", "LANG" => "C.UTF-8" })).lines
      end

      # 52,220,000 live, 900,000 + 40,960 + 8 × 58,211 heapline's own.
      def test_the_parts_add_up_to_rss
        line = lines(leaky, Model::ProcessMemory.new(rss_bytes: 60_000_000)).first
        assert_equal [60.0, 52.22, 1.41, 6.37], line.scan(/([\d.]+) MB/).flatten.map(&:to_f)
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
