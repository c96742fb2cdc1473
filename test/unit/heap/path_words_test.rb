# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/object_words"
require "heapline/heap/path_words"

module Heapline
  module Heap
    class PathWordsTest < Minitest::Test
      # steps: [name, type, class name, fields] …
      def text(*steps, general: false)
        path = steps.map do |name, type, class_name, fields|
          address = type == "ROOT" ? nil : 1
          object = Object.new(type: type, class_name: class_name, address: address, **fields.to_h)
          Reference.new(object: object, name: name)
        end
        PathWords.new(ObjectWords.new, general: general).parts(path).join(PathWords::ARROW)
      end

      VM = [nil, "ROOT", "vm"].freeze

      def test_names_are_explained
        assert_equal "$sessions → Array[3] → #<Session> @cache → Hash[:page] → String \"x\"",
                     text([nil, "ROOT", "global_tbl"], ["$sessions", "ARRAY", "Array"], ["[3]", "OBJECT", "Session"],
                          ["@cache", "HASH", "Hash"], ["[:page]", "STRING", "String", { value: "x", length: 1 }])
      end

      def test_without_names
        assert_equal "root vm → #<Thread> → Array[…] → #<Session> → Hash[…] → #<Cart>",
                     text(VM, [nil, "DATA", "Thread"], [nil, "ARRAY", "Array"], [nil, "OBJECT", "Session"],
                          [nil, "HASH", "Hash"], [nil, "OBJECT", "Cart"])
      end

      def test_constants_and_what_classes_hold
        object = [nil, "CLASS", "Class", { name: "Object" }]
        shop = ["Shop", "MODULE", "Module", { name: "Shop" }]
        assert_equal "root vm → Shop::CARTS → Array[0] → #<Cart>",
                     text(VM, object, shop, %w[CARTS ARRAY Array], ["[0]", "OBJECT", "Cart"])
        assert_equal "root vm → Shop @@all → Array", text(VM, object, shop, ["@@all", "ARRAY", "Array"])
        assert_equal "root vm → LIMITS → Array", text(VM, object, %w[LIMITS ARRAY Array])
        assert_equal "root vm → Shop", text(VM, object, shop)
      end

      def test_paths_that_differ_in_values_and_indices_are_one
        ways = %w[a b].each_with_index.map do |value, index|
          text(VM, ["[#{index}]", "ARRAY", "Array"], ["[#{index}]", "STRING", "String", { value: value }],
               general: true)
        end
        assert_equal ["root vm → Array[…] → String"], ways.uniq
      end

      def test_what_is_repeated_is_written_once
        list = [VM, %w[$list OBJECT Node]] + Array.new(8) { %w[@next OBJECT Node] }
        assert_equal "$list → #<Node> @next (8 times) → #<Node>", text(*list)
        assert_equal "$list → #<Node> @next → #<Node> @next → #<Node>", text(*list.first(4))
      end

      def test_a_long_path_loses_its_middle
        nodes = Array.new(99) { |at| ["@n", "OBJECT", "N#{at}"] }
        assert_match(/#<N13> @n → \(70 more\) → #<N84> @n/, text(VM, *nodes))
      end
    end
  end
end
