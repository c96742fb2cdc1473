# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/change"

module Heapline
  module Model
    module Capture
      class ChangeTest < Minitest::Test
        def test_growth
          change = Change.new(key: "a", before: Sums.of([1] * 10), after: Sums.of([3] * 10))
          assert_equal [2] * 10, change.growth.to_a
          assert change.frozen?
        end
      end
    end
  end
end
