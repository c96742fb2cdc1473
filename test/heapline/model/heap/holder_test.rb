# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/holder"

module Heapline
  module Model
    module Heap
      class HolderTest < Minitest::Test
        def test_a_frozen_value
          holder = Holder.new(object: nil, retained_bytes: 400, retained_objects: 10)
          assert_equal [400, 10], [holder.retained_bytes, holder.retained_objects]
          assert holder.frozen?
        end
      end
    end
  end
end
