# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/largest"

module Heapline
  module Heap
    class LargestTest < Minitest::Test
      include HeapValues

      # Addresses, each with that of what holds it.
      def picked(tree, limit)
        address = ->(pick) { pick && pick.holder.object.address }
        Largest.new(tree).pick(limit).map { |pick| [address[pick], address[pick.above]] }
      end

      def test_from_the_roots_down_the_largest_first
        assert_equal [[0x20, nil], [0x21, 0x20], [0x22, 0x20], [0x31, 0x21], [0x32, 0x22], [0x10, nil]],
                     picked(shop.dominators, 6)
        assert_equal 11, picked(shop.dominators, 100).size
      end

      # A dominator tree of a list: nobody else has its nodes, and each holds one String.
      class List
        def initialize(size)
          @size = size
        end

        def children(address = nil, count = 20)
          return [holder(1)] unless address
          return [] if address > @size

          [holder(address + 1), string(address)].compact.first(count)
        end

        private

        def holder(node)
          return nil if node > @size

          object = Object.new(address: node, type: "OBJECT", class_name: "Node", bytes: 40)
          Holder.new(object: object, retained_bytes: (@size - node + 1) * 80)
        end

        def string(node)
          object = Object.new(address: 10_000 + node, type: "STRING", class_name: "String", bytes: 40)
          Holder.new(object: object, retained_bytes: 40)
        end
      end

      def test_of_a_list_the_first_node_and_what_hangs_on_the_next
        picks = picked(List.new(5000), 100)
        assert_equal [1, nil], picks.first
        assert_equal(Largest::LINKS + 1, picks.count { |_, above| above == 1 })
        assert_equal Largest::LINKS + 2, picks.size
      end

      def test_a_short_list_is_no_chain
        assert_includes picked(List.new(5), 100), [2, 1]
      end
    end
  end
end
