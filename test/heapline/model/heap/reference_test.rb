# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/object"
require "heapline/model/heap/reference"

module Heapline
  module Model
    module Heap
      class ReferenceTest < Minitest::Test
        def test_an_object_and_a_name
          root = Object.new(type: "ROOT", class_name: "vm")
          reference = Reference.new(object: root, name: nil)
          assert_equal [root, nil], reference.to_a
          assert reference.frozen?
        end
      end
    end
  end
end
