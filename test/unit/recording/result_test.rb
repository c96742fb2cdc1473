# frozen_string_literal: true

require "test_helper"
require "heapline/recording/result"

module Heapline
  class Recording
    class ResultTest < Minitest::Test
      def result(**fields)
        Result.new(lost: 0, dropped: 0, stacks_refused: 0, objects_until_ns: 0, elapsed_ns: 1_500_000_000, **fields)
      end

      def test_a_whole_one
        assert_predicate result, :whole?
        assert_equal 1.5, result.duration
        assert_predicate result, :frozen?
      end

      def test_what_is_missing
        assert_equal 5, result(lost: 2, dropped: 3).missing
        refute_predicate result(lost: 1), :whole?
        refute_predicate result(dropped: 1), :whole?
        refute_predicate result(stacks_refused: 1), :whole?
        refute_predicate result(objects_until_ns: 1), :whole?
      end
    end
  end
end
