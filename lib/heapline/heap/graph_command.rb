# frozen_string_literal: true

require_relative "graph"
require_relative "object_words"
require_relative "question"

module Heapline
  module Heap
    # A Heap::Graph as a Sheet, for JSON.
    class Drawing
      # values: false hides what strings are.
      def initialize(values: true)
        @objects = ObjectWords.new(values: values)
      end

      # graph: of `dump` (HeapDump). Returns a Sheet.
      def sheet(dump, graph)
        Question.sheet("graph", dump, nodes(graph), edges(graph))
      end

      private

      def nodes(graph)
        Table::Listing.new(key: :nodes, rows: graph.nodes.to_a, columns: [],
                           data: ->((key, holder)) { node(key, holder, graph.focus) })
      end

      def node(key, holder, focus)
        { key: name(key), focus: key == focus, **@objects.data(holder.object), retained_bytes: holder.retained_bytes }
      end

      def edges(graph)
        Table::Listing.new(key: :edges, rows: graph.edges, columns: [],
                           data: ->(edge) { { **edge.to_h, from: name(edge.from), to: name(edge.to) } })
      end

      def name(key)
        key.is_a?(Integer) ? format("0x%x", key) : key
      end
    end

    # `heapline heap graph FILE [ADDRESS]`: a part of the graph that can be drawn, for Graphviz.
    class GraphCommand < Question
      USAGE_LINE = "heap graph [options] FILE [ADDRESS]"
      SUMMARY = "Draw what retains most, or what is around an object: a graph for Graphviz"
      FORMATS = %w[dot json].freeze
      NODES = 40

      private

      def define(parser)
        parser.on("--dot", "the same as --format dot") { @options[:format] = "dot" }
        parser.on("--nodes N", "draw at most N objects (#{NODES})") do |value|
          @options[:nodes] = Figures::Typed.count(value)
        end
        define_values(parser)
        super
      end

      def answer(words)
        path, address, *others = words
        @dump = dump_of([path, *others].compact, index: true)
        nodes = @options.fetch(:nodes, NODES)
        return Heaviest.new(@dump.dominators, nodes).graph unless address

        Surroundings.new(@dump, nodes).graph(object(@dump, address))
      end

      def problems(_graph)
        @dump.problems
      end

      def renderer
        return super unless name == "dot"

        require_relative "dot"
        Dot.new(**@options.slice(:values))
      end

      def show(graph)
        name == "dot" ? super : super(Drawing.new(**@options.slice(:values)).sheet(@dump, graph))
      end
    end
  end
end
