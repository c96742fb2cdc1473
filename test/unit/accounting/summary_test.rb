# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/accounting/html"

module Heapline
  module Accounting
    class SummaryTest < Minitest::Test
      include Snapshots

      def test_who_it_was
        found = Summary.new(leaky).process
        assert_equal "ruby leak.rb", found[:command]
        assert_equal ["pid 4711", "exited", "12.3 s", "Ruby 3.4.11", "glibc 2.41", "7 GCs",
                      "taken 2027-01-15 08:00:13 UTC"], found[:facts]
        assert_nil found[:since]
      end

      def test_growth_that_does_not_count_from_the_start
        assert_equal "growth counts since the fork from 12",
                     Summary.new(leaky.with(baseline_kind: :fork, forked_from: 12)).process[:since]
        cleared = leaky.with(baseline_kind: :clear, baseline_at: Time.at(1_800_000_005))
        assert_match(/since the baseline at 2027-01-15 08:00:05 UTC/, Summary.new(cleared).process[:since])
      end

      def test_totals
        tiles = Summary.new(leaky, memory: Processes::ProcessMemory.new(rss_bytes: 118_300_000)).tiles
        assert_equal ["RSS", "malloc live", "growth", "allocated", "temporary", "peak live"], tiles.map(&:first)
        figures = tiles.map { |_, figure, _| figure }
        assert_equal ["118.30 MB", "52.22 MB", "52.22 MB", "104.00 MB", "42 %", "142.60 MB"], figures
      end

      def test_what_is_not_known_has_no_tile
        bare = snapshot.with(peak_bytes: nil, allocator: nil)
        assert_equal ["malloc live", "growth", "allocated"], Summary.new(bare).tiles.map(&:first)
      end

      def test_failures_are_said
        failed = leaky.with(failures: { counts_lost: 1234 })
        assert_match(/1,234 frees found no counter/, Summary.new(failed).notes.first)
      end
    end
  end
end
