# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/table/json_object"
require "heapline/heap/graph"
require "json"
require "support/heap_answers"
require "heapline/heap/graph_command"

module Heapline
  module Heap
    class DrawingTest < Minitest::Test
      include HeapValues

      def data(**options)
        graph = Surroundings.new(shop, 40).graph(shop.object(0x31))
        Table::SheetJson.new.to_h(Drawing.new(**options).sheet(shop, graph))
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

    class GraphCommandTest < Minitest::Test
      include HeapAnswers

      def test_what_retains_most
        result = ask("graph", "a", "--dot")
        assert_equal [0, ""], [result.status, result.err]
        assert_match(/\Adigraph heap \{.*"all roots|"root all roots" -> "0x20"/m, result.out)
      end

      def test_around_an_object
        assert_match(/"0x21" -> "0x31" \[label="@cache"/, ask("graph", "a", "0x31").out)
        data = asked("graph", "a", "0x31", "--nodes", "3")
        assert_equal 3, data["nodes"].size
      end

      def test_problems_go_to_stderr
        result = ask("graph", "a", problems: ["line 9: not JSON"])
        assert_equal [1, "heapline: line 9: not JSON\n"], [result.status, result.err]
      end

      def test_files
        %w[g.dot g.gv g].each do |name|
          ask("graph", "a", "-o", output(name))
          assert_match(/\Adigraph/, File.read(output(name)), name)
        end
        ask("graph", "a", "-o", output("g.json"))
        assert_equal "graph", JSON.parse(File.read(output("g.json")))["kind"]
        assert_match(/cannot be written as csv: dot, json/, ask("graph", "a", "-o", output("g.csv")).err)
      end

      def test_values_can_be_hidden
        refute_match(/html/, ask("graph", "a", "0x31", "--no-values").out)
        refute_match(/html/, ask("graph", "a", "0x31", "--no-values", "--json").out)
      end
    end
  end
end
