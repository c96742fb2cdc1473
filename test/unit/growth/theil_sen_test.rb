# frozen_string_literal: true

require "test_helper"
require "heapline/growth/theil_sen"

module Heapline
  module Growth
    class TheilSenTest < Minitest::Test
      def test_slope_and_interval
        trend = TheilSen.of([(0..9).map { |i| [i, (3 * i) + (i.odd? ? 1 : 0)] }], reach: 2.576)
        assert_in_delta 3.0, trend.slope
        assert_operator trend.low, :>, 2.5
        assert_operator trend.high, :<, 3.6
        assert_operator trend.low, :<=, trend.slope
      end

      # 10 points without ties: Var S = 10·9·25/18 = 125; 2.576·√125 = 28.8; (45 − 28.8)/2 = 8.1: the 9th of 45
      # slopes from each end.
      def test_the_interval_is_sens
        points = [3, 1, 4, 15, 9, 26, 5, 35, 8, 97].each_with_index.map { |value, i| [i, value] }
        slopes = points.combination(2).map { |(a, x), (b, y)| (y - x) / (b - a).to_f }.sort
        trend = TheilSen.of([points], reach: 2.576)
        assert_equal [slopes[8], slopes[22], slopes[36]], [trend.low, trend.slope, trend.high]
      end

      # Five equal values: Var S = (2250 − 300)/18 = 108.3; (45 − 2.576·√108.3)/2 = 9.1: one slope further in.
      def test_ties_make_it_surer
        points = [60, 1, 30, 1, 15, 1, 26, 1, 35, 1].each_with_index.map { |value, i| [i, value] }
        slopes = points.combination(2).map { |(a, x), (b, y)| (y - x) / (b - a).to_f }.sort
        refute_equal slopes[8], slopes[9]
        assert_equal slopes[9], TheilSen.of([points], reach: 2.576).low
      end

      def test_wild_points_do_not_move_it
        points = (0..29).map { |i| [i, i.zero? || i == 17 ? 1e9 : i * 2] }
        assert_in_delta 2.0, TheilSen.of([points], reach: 2.576).slope
      end

      def test_lives_are_compared_within_themselves
        first = (0..9).map { |i| [i, i] }
        second = (100..109).map { |i| [i, i - 100] }
        trend = TheilSen.of([first, second], reach: 2.576)
        assert_equal [1.0, 1.0, 1.0], trend.to_a
      end

      def test_too_few_points_have_no_interval
        assert_equal [1.0, -Float::INFINITY, Float::INFINITY], TheilSen.of([[[0, 0], [1, 1]]], reach: 2.576).to_a
        assert_equal [0.0, -Float::INFINITY, Float::INFINITY], TheilSen.of([[[0, 5]]], reach: 2.576).to_a
        assert_equal 0.0, TheilSen.of([], reach: 2.576).slope
      end

      def test_a_flat_line_is_sure_to_be_flat
        assert_equal [0.0, 0.0, 0.0], TheilSen.of([(0..9).map { |i| [i, 7] }], reach: 2.576).to_a
      end
    end
  end
end
