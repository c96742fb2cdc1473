# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap"

module Heapline
  module Model
    class HeapTest < Minitest::Test
      def test_all_values_are_loaded
        values = %i[Change Comparison Dominators DuplicateString Group Holder Object Reference Step Summary]
        assert_empty values - Heap.constants(false)
      end
    end
  end
end
