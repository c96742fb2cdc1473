# frozen_string_literal: true

require "test_helper"
require "heapline/cli/moment"

module Heapline
  module CLI
    class MomentTest < Minitest::Test
      def test_durations
        assert_equal([90.0, 1800.0, 7200.0, 5400.0, 604_800.0, 604_800.0],
                     %w[90s 30min 2h 1.5h 7d 1w].map { |text| Moment.parse(text) })
      end

      def test_times
        assert_equal Time.utc(2026, 11, 21, 13, 5), Moment.parse("2026-11-21T13:05:00Z")
        assert_equal Time.local(2026, 11, 21), Moment.parse("2026-11-21")
        assert_equal Time.local(2026, 11, 21, 13, 5), Moment.parse("2026-11-21 13:05")
      end

      def test_anything_else
        ["", "yesterday", "2", "2 fortnights", "2026-99-99", "13:05"].each do |text|
          assert_match(/no time, no duration/, assert_raises(UsageError) { Moment.parse(text) }.message)
        end
      end
    end
  end
end
