# frozen_string_literal: true

require "test_helper"
require "heapline/heap/object"

module Heapline
  module Heap
    class ObjectTest < Minitest::Test
      def test_an_object
        object = Object.new(address: 0x7f40, type: "STRING", value: "abc", length: 4, file: "a.rb", line: 3)
        assert_equal ["0x7f40", "a.rb:3"], [object.address_text, object.location]
        refute_predicate object, :root?
        assert_predicate object, :cut?
        refute_predicate Object.new(address: 8, type: "FLOAT", value: "1.5"), :cut?
        assert_nil Object.new(address: 8).location
      end

      def test_a_root
        root = Object.new(type: "ROOT", class_name: "vm")
        assert_predicate root, :root?
        assert_nil root.address_text
      end

      def test_an_object_and_a_name
        root = Object.new(type: "ROOT", class_name: "vm")
        reference = Reference.new(object: root, name: nil)
        assert_equal [root, nil], reference.to_a
        assert reference.frozen?
      end
    end
  end
end
