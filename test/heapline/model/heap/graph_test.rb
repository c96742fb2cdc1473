# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap"
require "heapline/model/heap/graph"

module Heapline
  module Model
    module Heap
      class GraphTest < Minitest::Test
        def test_a_node_is_known_by_its_address_a_root_by_its_name
          assert_equal 16, Graph.key(Object.new(address: 16, type: "ARRAY", class_name: "Array"))
          assert_equal "vm", Graph.key(Object.new(type: "ROOT", class_name: "vm"))
        end

        def test_values_do_not_change
          assert_predicate Graph.new(nodes: {}, edges: []), :frozen?
          assert_predicate Edge.new(from: 1, to: 2, kind: :path), :frozen?
        end
      end
    end
  end
end
