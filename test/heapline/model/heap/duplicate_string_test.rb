# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/duplicate_string"

module Heapline
  module Model
    module Heap
      class DuplicateStringTest < Minitest::Test
        def test_a_long_value_is_cut
          assert_predicate DuplicateString.new(value: "äb", bytesize: 9, count: 2, bytes: 80, wasted_bytes: 40), :cut?
          refute_predicate DuplicateString.new(value: "äb", bytesize: 3, count: 2, bytes: 80, wasted_bytes: 40), :cut?
        end
      end
    end
  end
end
