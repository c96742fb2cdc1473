# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/format/heap/drawing"
require "heapline/format/heap/json"
require "heapline/model/heap/surroundings"

module Heapline
  module Format
    module Heap
      class DrawingTest < Minitest::Test
        include HeapValues

        def data(**options)
          graph = Model::Heap::Surroundings.new(shop, 40).graph(shop.object(0x31))
          Json.new.to_h(Drawing.new(**options).sheet(shop, graph))
        end

        def test_nodes_and_edges
          assert_equal "graph", data[:kind]
          nodes = data[:nodes].to_h { |node| [node[:key], node] }
          assert nodes.fetch("0x31")[:focus]
          assert_equal "Session", nodes.fetch("0x21")[:class]
          assert_includes data[:edges], { from: "0x21", to: "0x31", name: "@cache", kind: :path }
          assert_includes data[:edges], { from: "0x31", to: "0x50", name: "[:greeting]", kind: :reference }
        end

        def test_values_can_be_hidden
          refute_match(/html/, data(values: false).to_s)
        end
      end
    end
  end
end
