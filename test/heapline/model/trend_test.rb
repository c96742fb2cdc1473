# frozen_string_literal: true

require "test_helper"
require "heapline/model/trend"

module Heapline
  module Model
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
