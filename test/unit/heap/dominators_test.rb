# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/dominators"

module Heapline
  module Heap
    class DominatorsTest < Minitest::Test
      include HeapValues

      def test_a_frozen_value
        holder = Holder.new(object: nil, retained_bytes: 400, retained_objects: 10)
        assert_equal [400, 10], [holder.retained_bytes, holder.retained_objects]
        assert holder.frozen?
      end

      def test_by_class
        groups = Holder.by_class(shop.dominators.children(0x20))
        assert_equal [["Session", 2, 2896, 80], ["String", 1, 40, 40]],
                     (groups.map { |group| [group.key, group.count, group.bytes, group.slot_bytes] })
      end

      def test_of_what_holds_nothing
        assert_empty Holder.by_class(shop.dominators.children(0x81))
      end

      # Rows as the native reader has them; what an object's row is, only `objects` knows.
      class Tree
        def top_holders(count) = [[:a, 100, 3], [:b, 40, 1]].first(count)
        def holder(address) = address == 8 ? [:a, 100, 3] : nil
        def holder_of(address) = address == 16 ? [:a, 100, 3] : nil
        def held(address, _count) = address ? [[:b, 40, 1]] : [[:a, 100, 3]]
        def class_holders(_count) = [["String", 2, 90, 80]]
        def reachable = [4, 140, 120]
        def unreachable = [1, 40, 40]
      end

      def setup
        @tree = Dominators.new(Tree.new, ->(row) { "object #{row}" })
      end

      def test_holders
        assert_equal [["object a", 100, 3]], @tree.top(1).map(&:to_a)
        assert_equal "object a", @tree.retained(8).object
        assert_nil @tree.retained(9)
        assert_equal ["object b"], @tree.children(8).map(&:object)
        assert_equal ["object a"], @tree.children.map(&:object)
        assert_equal "object a", @tree.parent(16).object
        assert_nil @tree.parent(8)
      end

      def test_groups
        assert_equal [["String", 2, 90, 80]], @tree.by_class.map(&:to_a)
        assert_equal [["reachable", 4, 140, 120], ["unreachable", 1, 40, 40]],
                     [@tree.reachable, @tree.unreachable].map(&:to_a)
      end
    end
  end
end
