# frozen_string_literal: true

require "test_helper"
require_relative "../../bench/harness"

module Bench
  class StatisticsTest < Minitest::Test
    def test_the_median_of_odd_and_even_numbers_of_values
      assert_equal 3, Statistics.median([9, 1, 3])
      assert_in_delta 2.5, Statistics.median([4, 1, 2, 3])
    end

    def test_a_spread_keeps_the_extremes
      assert_equal Spread.new(median: 2, low: 1, high: 5), Statistics.spread([5, 1, 2])
    end

    def test_opposite_ratios_cancel_out_in_the_geometric_mean
      assert_in_delta 1.0, Statistics.geometric_mean([2.0, 0.5])
    end

    def test_nothing_comes_of_no_values
      assert_nil Statistics.spread([])
      assert_nil Statistics.geometric_mean([])
    end
  end
end
