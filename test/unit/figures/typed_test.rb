# frozen_string_literal: true

require "test_helper"
require "heapline/figures/typed"

module Heapline
  module Figures
    class TypedTest < Minitest::Test
      def test_bytes
        { "0" => 0, "4096" => 4096, "10k" => 10_000, "1.5MB" => 1_500_000, "2 G" => 2_000_000_000, "7b" => 7 }
          .each { |text, number| assert_equal number, Typed.bytes(text) }
        ["", "x", "-1", "1T", "1.5.2", nil].each { |text| assert_raises(UsageError) { Typed.bytes(text) } }
      end

      def test_count
        assert_equal [0, 37], [Typed.count("0"), Typed.count("37")]
        ["-1", "1.5", "", "1e3", "9" * 20].each { |text| assert_raises(UsageError) { Typed.count(text) } }
      end

      def test_seconds
        { "60" => 60, "0.05" => 0.05, "2.0" => 2, "5m" => 300, "30min" => 1800, "1h" => 3600, "3s" => 3,
          "2 d" => 172_800, "1w" => 604_800 }.each { |text, number| assert_equal number, Typed.seconds(text) }
        ["", "x", "-1", "0", "1y", "1.5.2", nil].each { |text| assert_raises(UsageError) { Typed.seconds(text) } }
      end

      def test_seconds_that_may_be_none
        assert_equal [0, 0, 2], (%w[0 0.0 2].map { |text| Typed.seconds(text, zero: true) })
        ["", "x", "-1", nil].each { |text| assert_raises(UsageError) { Typed.seconds(text, zero: true) } }
      end

      def test_durations_before_now
        assert_equal([90, 1800, 7200, 5400, 604_800, 604_800, 0],
                     %w[90s 30min 2h 1.5h 7d 1w 0h].map { |text| Typed.moment(text) })
      end

      def test_times
        assert_equal Time.utc(2026, 11, 21, 13, 5), Typed.moment("2026-11-21T13:05:00Z")
        assert_equal Time.local(2026, 11, 21), Typed.moment("2026-11-21")
        assert_equal Time.local(2026, 11, 21, 13, 5), Typed.moment("2026-11-21 13:05")
      end

      def test_anything_else
        ["", "yesterday", "2", "2 fortnights", "2026-99-99", "13:05"].each do |text|
          assert_match(/no time or duration/, assert_raises(UsageError) { Typed.moment(text) }.message)
        end
      end
    end
  end
end
