# frozen_string_literal: true

require_relative "../../model/heap/heaviest"
require_relative "../../model/heap/surroundings"
require_relative "question"

module Heapline
  module CLI
    class Heap
      # `heapline heap graph FILE [ADDRESS]`: a part of the graph that can be drawn, for Graphviz.
      class Graph < Question
        USAGE_LINE = "heap graph [options] FILE [ADDRESS]"
        SUMMARY = "Draw what retains most, or what is around an object: a graph for Graphviz"
        FORMATS = %w[dot json].freeze
        NODES = 40

        private

        def define(parser)
          parser.on("--dot", "the same as --format dot") { @options[:format] = "dot" }
          parser.on("--nodes N", "draw at most N objects (#{NODES})") { |value| @options[:nodes] = Size.count(value) }
          define_values(parser)
          super
        end

        def answer(words)
          path, address, *others = words
          @dump = dump_of([path, *others].compact, index: true)
          nodes = @options.fetch(:nodes, NODES)
          return Model::Heap::Heaviest.new(@dump.dominators, nodes).graph unless address

          Model::Heap::Surroundings.new(@dump, nodes).graph(object(@dump, address))
        end

        def problems(_graph)
          say_problems(@dump)
        end

        def renderer
          return super unless name == "dot"

          require_relative "../../format/heap/dot"
          Format::Heap::Dot.new(**@options.slice(:values))
        end

        def show(graph)
          return super if name == "dot"

          require_relative "../../format/heap/drawing"
          super(Format::Heap::Drawing.new(**@options.slice(:values)).sheet(@dump, graph))
        end
      end
    end
  end
end
