# frozen_string_literal: true

require "test_helper"
require "heapline/model/spans"

module Heapline
  module Model
    class SpansTest < Minitest::Test
      def test_of_a_header
        spans = Spans.of({ count: 4, sum: 20, squares: 120, least: 2, most: 8 })
        assert_equal [4, 2, 8, 5.0], [spans.count, spans.min, spans.max, spans.mean]
        assert_in_delta Math.sqrt(5), spans.stddev
        assert_predicate spans, :frozen?
      end

      def test_of_one
        assert_in_delta 0.0, Spans.of({ count: 1, sum: 3, squares: 9, least: 3, most: 3 }).stddev
      end

      def test_without_any
        spans = Spans.of({ count: 0, sum: 0, squares: 0, least: 0, most: 0 })
        assert_equal [0, nil, nil, nil, nil], [spans.count, spans.min, spans.max, spans.mean, spans.stddev]
      end
    end
  end
end
