# frozen_string_literal: true

require "test_helper"
require "heapline"

module Heapline
  class GrowthLogTest < Minitest::Test
    def test_without_the_preload_it_says_how_to_run_the_program
      error = assert_raises(NotEnabled) { Heapline.log_growth(to: "/tmp/x") }
      assert_match(/run it with `heapline ruby/, error.message)
    end

    def test_wrong_arguments
      assert_raises(ArgumentError) { Heapline.log_growth(to: "/tmp/x", every: 0) }
      replacing(Native, :flight_path, "/x") do
        assert_raises(ArgumentError) { Heapline.log_growth(to: "/tmp/x", top: "many") }
        assert_raises(ArgumentError) { Heapline.log_growth(to: 5) }
      end
    end

    def test_counts_kept_in_memory_have_no_log
      replacing(Native, :flight_path, nil) do
        assert_match(/this process has none/, assert_raises(Error) { Heapline.log_growth(to: "/x") }.message)
      end
    end
  end
end
