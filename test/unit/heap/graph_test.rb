# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/graph"

module Heapline
  module Heap
    class GraphTest < Minitest::Test
      include HeapValues

      def test_a_node_is_known_by_its_address_a_root_by_its_name
        assert_equal 16, Graph.key(Object.new(address: 16, type: "ARRAY", class_name: "Array"))
        assert_equal "vm", Graph.key(Object.new(type: "ROOT", class_name: "vm"))
      end

      def test_values_do_not_change
        assert_predicate Graph.new(nodes: {}, edges: []), :frozen?
        assert_predicate Edge.new(from: 1, to: 2, kind: :path), :frozen?
      end

      def graph(limit)
        Heaviest.new(shop.dominators, limit).graph
      end

      def test_always_the_one_that_retains_most
        assert_equal ["all roots", 0x20, 0x21, 0x22, 0x31], graph(4).nodes.keys
        assert_equal [["all roots", 0x20], [0x20, 0x21], [0x20, 0x22], [0x21, 0x31]],
                     (graph(4).edges.map { |edge| [edge.from, edge.to] })
      end

      def test_all_there_is
        assert_equal 12, graph(100).nodes.size
        assert_equal 0, graph(100).left_out
        assert_operator graph(4).left_out, :>, 0
      end

      def test_the_roots_retain_all_that_can_be_reached
        assert_equal shop.dominators.reachable.bytes, graph(1).nodes.fetch("all roots").retained_bytes
      end

      def around(address, limit, dump: shop)
        Surroundings.new(dump, limit).graph(dump.object(address))
      end

      def kinds(graph)
        graph.edges.group_by(&:kind).transform_values { |edges| edges.map { |edge| [edge.from, edge.to] } }
      end

      def test_the_way_the_referrers_and_what_it_references
        graph = around(0x50, 40)
        assert_equal 0x50, graph.focus
        assert_equal [["global_tbl", 0x20], [0x20, 0x21], [0x21, 0x31], [0x31, 0x50]], kinds(graph)[:path]
        assert_equal [[0x32, 0x50]], kinds(graph)[:reference]
      end

      def test_it_is_bounded
        graph = around(0x31, 4)
        assert_operator graph.nodes.size, :<=, 4
        assert_operator graph.left_out, :>, 0
        assert_equal [["global_tbl", 0x31]], kinds(graph)[:holds]
        assert(graph.edges.all? { |edge| graph.nodes.key?(edge.from) && graph.nodes.key?(edge.to) })
      end

      def test_cycles_end
        dump = HeapValues::Dump.new(HeapValues::Graph.new.tap do |graph|
          graph.root("vm", { 1 => nil })
          graph.add(1, "OBJECT", "A", { 2 => "@b" })
          graph.add(2, "OBJECT", "B", { 1 => "@a", 2 => "@self" })
        end)
        assert_equal 4, around(1, 40, dump: dump).edges.size
      end

      def test_garbage_has_no_way
        assert_equal [0x60], around(0x60, 40).nodes.keys
      end
    end
  end
end
