# frozen_string_literal: true

require "test_helper"
require_relative "support"

module Bench
  class ComparisonTest < Minitest::Test
    include Results

    def test_ratios_are_of_runs_of_the_same_round
      comparison = comparison("short_strings", plain: [{ wall: 1.0 }, { wall: 2.0 }, { wall: 4.0 }],
                                               heapline: [{ wall: 1.1 }, { wall: 2.2 }, { wall: 4.8 }])

      assert_in_delta 1.1, comparison.ratio("heapline", :wall).median
      assert_in_delta 1.2, comparison.ratio("heapline", :wall).high
    end

    def test_differences_are_in_the_figures_unit
      comparison = comparison("pairs_1", plain: [{ figures: { "ns_per_pair" => 9.0 } }],
                                         heapline: [{ figures: { "ns_per_pair" => 17.5 } }])

      assert_in_delta 8.5, comparison.difference("heapline", :ns_per_pair).median
    end

    def test_none_on_both_sides_is_no_change
      comparison = comparison("few_allocations", plain: [{ gc_count: 0.0 }], heapline: [{ gc_count: 0.0 }])

      assert_in_delta 1.0, comparison.ratio("heapline", :gc_count).median
    end

    def test_a_tool_that_did_not_run_has_no_ratio
      assert_nil comparison("short_strings", plain: [{ wall: 1.0 }]).ratio("mwrap", :wall)
    end

    def test_a_figure_that_was_not_measured_has_no_ratio
      comparison = comparison("start", plain: [{ rss_kb: nil }], heapline: [{ rss_kb: nil }])

      assert_nil comparison.ratio("heapline", :rss_kb)
    end
  end
end
