# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap"

module Heapline
  module Model
    class HeapTest < Minitest::Test
      def test_all_values_are_loaded
        assert_equal %i[Change Comparison Dominators DuplicateString Group Holder Object Reference Step Summary],
                     Heap.constants.sort - %i[Frozen]
      end
    end
  end
end
