# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/group"

module Heapline
  module Model
    module Heap
      class GroupTest < Minitest::Test
        def test_a_frozen_value
          group = Group.new(key: "String", count: 2, bytes: 120, slot_bytes: 80)
          assert_equal ["String", 2, 120, 80], group.to_a
          assert group.frozen?
        end
      end
    end
  end
end
