# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/node"

module Heapline
  module Model
    module Capture
      class NodeTest < Minitest::Test
        def node(depth, *children)
          Node.new(depth: depth, count: 1, bytes: 1, own_count: 0, own_bytes: 0, children: children)
        end

        def test_walks_in_the_order_of_printing_and_where_it_is_told_to
          root = node(0, node(1, node(2)), node(3))
          seen = []
          root.walk { |one| seen << one.depth }
          assert_equal [0, 1, 2, 3], seen
          seen = []
          root.walk { |one| (seen << one.depth) && one.depth != 1 }
          assert_equal [0, 1, 3], seen
        end
      end
    end
  end
end
