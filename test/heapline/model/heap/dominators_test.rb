# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/dominators"

module Heapline
  module Model
    module Heap
      class DominatorsTest < Minitest::Test
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
end
