# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/change"

module Heapline
  module Model
    module Heap
      class ChangeTest < Minitest::Test
        def test_growth_may_be_negative
          change = Change.new(key: "String", before_count: 5, before_bytes: 200, after_count: 7, after_bytes: 150)
          assert_equal [2, -50], [change.growth_count, change.growth_bytes]
        end
      end
    end
  end
end
