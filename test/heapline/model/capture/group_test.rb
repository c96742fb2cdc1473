# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/group"

module Heapline
  module Model
    module Capture
      class GroupTest < Minitest::Test
        def test_a_frozen_value
          group = Group.new(key: "rack", label: nil, sums: Sums.of([1] * 10))
          assert_equal ["rack", 1], [group.key, group.sums.bytes]
          assert group.frozen?
        end
      end
    end
  end
end
