# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "support/readers"
require "heapline/heap/dot"
require "heapline/heap/graph"

module Heapline
  module Heap
    class DotTest < Minitest::Test
      include Golden
      include HeapValues
      include Readers

      def around(dump, address, nodes: 40, **options)
        dot(Surroundings.new(dump, nodes).graph(dump.object(address)), **options)
      end

      def dot(graph, **options)
        io = StringIO.new
        Dot.new(**options).render(graph, io)
        io.string
      end

      # What Graphviz makes of it.
      def svg(text)
        read_by("dot", "-Tsvg", stdin_data: text)
      end

      def test_around_an_object
        assert_golden("heap/graph", around(shop, 0x31, nodes: 6))
      end

      def test_graphviz_draws_it
        picture = svg(around(shop, 0x31))
        assert_match(/#&lt;Session&gt;/, picture)
        assert_match(/>@cache</, picture)
        assert_match(/retains 2\.98 kB/, svg(dot(Heaviest.new(shop.dominators, 5).graph)))
      end

      def test_hostile_names_are_text
        text = around(hostile, 0x10)
        refute_match(/[\e\0\u202e]/, text)
        assert_includes svg(text), '&lt;script&gt;\x1B[31m\u{202E}\x00\x0A&quot;\N'
      end

      def test_values_can_be_hidden
        refute_match(/html/, around(shop, 0x31, values: false))
      end
    end
  end
end
