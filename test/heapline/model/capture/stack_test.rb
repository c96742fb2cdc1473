# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/stack"

module Heapline
  module Model
    module Capture
      class StackTest < Minitest::Test
        def test_a_frozen_value
          stack = Stack.new(frames: [], thread: "main")
          assert_equal [[], "main", nil], [stack.frames, stack.thread, stack.tag]
          assert stack.frozen?
        end
      end
    end
  end
end
