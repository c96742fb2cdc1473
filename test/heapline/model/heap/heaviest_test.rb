# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/model/heap/heaviest"

module Heapline
  module Model
    module Heap
      class HeaviestTest < Minitest::Test
        include HeapValues

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
      end
    end
  end
end
