# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/comparison"

module Heapline
  module Model
    module Heap
      class ComparisonTest < Minitest::Test
        def test_two_and_three_dumps
          two = Comparison.new(by: :class, same_process: false)
          refute_predicate two, :three?
          refute_predicate two, :same_process?
          assert_predicate Comparison.new(by: :class, same_process: true, last: :summary), :three?
        end
      end
    end
  end
end
