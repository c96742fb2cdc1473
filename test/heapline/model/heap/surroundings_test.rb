# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/model/heap/surroundings"

module Heapline
  module Model
    module Heap
      class SurroundingsTest < Minitest::Test
        include HeapValues

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
end
