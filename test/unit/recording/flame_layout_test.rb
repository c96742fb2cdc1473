# frozen_string_literal: true

require "test_helper"
require "heapline/recording/flame_layout"
require "heapline/recording/model"

module Heapline
  class Recording
    class FlameLayoutTest < Minitest::Test
      def node(name, depth, bytes, *children)
        Node.new(frame: name && Frame.new(label: name), depth: depth, count: 1,
                 bytes: bytes, own_count: 0, own_bytes: 0, children: children)
      end

      def places(layout)
        layout.places.map { |place| [place.node.frame&.label, place.node.depth, place.left, place.width] }
      end

      def test_each_beside_and_on_top_of_others
        root = node(nil, 0, 100, node("a", 1, 60, node("b", 2, 40), node("c", 2, 10)),
                    node("d", 1, 40, node("e", 2, 40)))
        layout = FlameLayout.new(root, :bytes, whole: 200, least: 1)
        assert_equal [[nil, 0, 0.0, 200.0], ["a", 1, 0.0, 120.0], ["b", 2, 0.0, 80.0], ["c", 2, 80.0, 20.0],
                      ["d", 1, 120.0, 80.0], ["e", 2, 120.0, 80.0]], places(layout)
        assert_equal [3, 0], [layout.depth, layout.left_out]
      end

      def test_what_is_too_narrow_is_counted
        root = node(nil, 0, 100, node("a", 1, 99, node("b", 2, 98)), node("c", 1, 1, node("d", 2, 1)))
        layout = FlameLayout.new(root, :bytes, whole: 100, least: 1.5)
        assert_equal %w[a b], places(layout).drop(1).map(&:first)
        assert_equal 2, layout.left_out
      end

      def test_by_count_and_nothing_at_all
        root = node(nil, 0, 0)
        assert_equal [[nil, 0, 0.0, 1.0]], places(FlameLayout.new(root, :count, whole: 1, least: 0.1))
        layout = FlameLayout.new(root, :bytes, whole: 100, least: 0.5)
        assert_equal [[nil, 0, 0.0, 0.0]], places(layout)
      end

      # Of more than it draws it draws the largest, and their callers.
      def test_not_without_bound
        leaves = Array.new(FlameLayout::MOST) { |index| node("l#{index}", 2, 2) }
        root = node(nil, 0, 3 * FlameLayout::MOST, node("large", 1, 2 * FlameLayout::MOST, *leaves),
                    node("alone", 1, FlameLayout::MOST))
        layout = FlameLayout.new(root, :bytes, whole: 1e6, least: 0.5)
        assert_equal [FlameLayout::MOST, 3], [layout.places.size, layout.left_out]
        assert_includes places(layout).map(&:first), "alone"
      end
    end
  end
end
