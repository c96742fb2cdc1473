# frozen_string_literal: true

require "test_helper"
require "heapline/recording/paths"
require "heapline/recording/model"

module Heapline
  class Recording
    class PathsTest < Minitest::Test
      def node(name, depth, bytes, own, *children)
        frame = name && Frame.new(label: name, path: "a.rb", lineno: depth)
        Node.new(frame: frame, depth: depth, count: bytes, bytes: bytes, own_count: own,
                 own_bytes: own,
                 children: children)
      end

      def root
        node(nil, 0, 1000, 0,
             node("main", 1, 1000, 0, node("one", 2, 996, 100, node("deep", 3, 896, 896)), node("two", 2, 4, 4)))
      end

      def listing(tree = root, **options)
        Paths.new(**options).sheet(tree, Summary.new(command: [], seconds: 0), "a.hlc", []).parts.first
      end

      def names(listing)
        listing.rows.map { |row| listing.label.call(row).text }
      end

      def test_to_the_right_where_paths_part
        shown = listing
        assert_equal ["main", "  one", "    deep"], names(shown)
        assert_equal 4, shown.total
        assert_equal "a.rb:2", shown.label.call(shown.rows[1]).place
      end

      def test_small_paths_and_many
        assert_equal ["main", "  one", "    deep", "  two"], names(listing(least: 0))
        assert_equal %w[main], names(listing(top: 1))
        root = node(nil, 0, 10, 0, node("a", 1, 6, 1, node("b", 2, 3, 3), node("c", 2, 2, 2)), node("d", 1, 4, 4))
        assert_equal %w[a d], names(listing(root, top: 2, least: 0))
      end

      # What nothing went through is no path that could be shown.
      def test_says_how_many_there_are
        empty = node(nil, 0, 10, 0, node("a", 1, 10, 10), node("b", 1, 0, 0))
        assert_equal 1, listing(empty, least: 0).total
      end

      def test_data_and_share
        shown = listing
        assert_equal [2, "one", 2, 100], shown.data.call(shown.rows[1]).values_at(:depth, :label, :lineno, :own_count)
        assert_in_delta 0.996, shown.columns.find { |column| column.key == :share }.value(shown.rows[1])
      end

      def test_says_what_it_is
        assert_equal "report --call-tree --metric count --bottom-up",
                     Paths.new(metric: :count, direction: :bottom_up).sheet(root, Summary.new(command: [], seconds: 0),
                                                                            "a.hlc", []).kind
      end
    end
  end
end
