# frozen_string_literal: true

require "test_helper"
require "support/scenes"
require "heapline/top/watch"

module Heapline
  module Top
    class WatchTest < Minitest::Test
      include Scenes

      def test_rates_are_over_half_a_span_to_a_whole_one
        seen = watch(reading(*shop(0), at: 0))
        assert_nil seen.activity.seconds
        (1..40).each do |second|
          seen.add(reading(*shop(second), at: second))
          expected = second < 10 ? second : (5..10)
          assert_operator expected, :===, seen.activity.seconds, second
        end
      end

      def test_seldom_readings
        seen = watch(*[0, 60, 120].map { |second| reading(*shop(second), at: second) })
        assert_equal 60.0, seen.activity.seconds
      end

      def test_trends_of_the_whole
        seen = watch(*[0, 1, 2].map { |second| reading(*shop(second), at: second, rss: 5 + second) })
        assert_equal [5, 6, 7], seen.rss.values
        assert_equal 3, seen.live.values.size
      end

      def test_trends_of_rows_belong_to_a_grouping_and_are_bounded
        seen = watch(reading(*shop(0)))
        rows = seen.activity.rows(:location)
        2.times { seen.follow(:lines, rows) }
        assert_equal [40_000_000] * 2, seen.trend(:lines, rows.first).values
        assert_nil seen.trend(:gems, rows.first)
        many = Array.new(Watch::TRENDS) { |i| Activity::Row.new(i, rows.first.site) }
        seen.follow(:lines, many)
        assert_nil seen.trend(:lines, rows.first)
        refute_nil seen.trend(:lines, many.last)
      end

      def test_exec_begins_anew
        seen = watch(reading(*shop(50), at: 0), reading(*shop(0), at: 5).then do |one|
          Reading.new([one.root.with(started_at: START + 9)], at: 5.0, rss_bytes: 1)
        end)
        assert_nil seen.activity.seconds
      end

      def test_a_baseline
        seen = watch(reading(*shop(0)), reading(*shop(1), at: 1))
        seen.baseline = seen.now
        seen.add(reading(*shop(3), at: 3))
        assert_equal 1_000_000, seen.activity.total.growth_bytes
        seen.baseline = nil
        assert_equal 42_523_700, seen.activity.total.growth_bytes
      end
    end

    class TrendTest < Minitest::Test
      def trend(values)
        values.each_with_object(Trend.new) { |value, trend| trend << value }.values
      end

      def test_as_they_came
        assert_empty trend([])
        assert_equal [1, 2, 3], trend([1, nil, 2, 3])
      end

      def test_bounded_evenly_spaced_and_up_to_now
        [64, 65, 66, 127, 128, 129, 1000, 12_345].each do |count|
          values = trend((0...count).to_a)
          assert_operator values.size, :<=, Trend::LIMIT + 1, count
          assert_operator values.size, :>, Trend::LIMIT / 2, count
          assert_equal [0, count - 1], [values.first, values.last]
          steps = values[0..-2].each_cons(2).map { |a, b| b - a }.uniq
          assert_equal 1, steps.size, count
        end
      end
    end
  end
end
