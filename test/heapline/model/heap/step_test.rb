# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/object"
require "heapline/model/heap/step"

module Heapline
  module Model
    module Heap
      class StepTest < Minitest::Test
        def test_an_object_and_a_name
          root = Object.new(type: "ROOT", class_name: "vm")
          step = Step.new(object: root, name: nil)
          assert_equal [root, nil], step.to_a
          assert step.frozen?
        end
      end
    end
  end
end
