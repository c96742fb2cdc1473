# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../figures/units"
require_relative "object_words"

module Heapline
  # @api private
  module Heap
    # A Heap::Graph in the language of Graphviz.
    class Dot
      # Characters of a name in a box.
      LONGEST = 80
      EDGES = { path: "color=\"#a8173a\", penwidth=2", holds: "style=dashed", reference: nil }.freeze
      FOCUS = "fillcolor=\"#fdeccc\""
      ROOT = "shape=ellipse"

      # values: false hides what strings are.
      def initialize(values: true)
        @objects = ObjectWords.new(values: values)
      end

      # Write the graph to `io`.
      def render(graph, io)
        io.write("digraph heap {\n  rankdir=LR;\n  node [shape=box, style=filled, fillcolor=white, fontsize=10];\n",
                 "  edge [fontsize=9];\n")
        graph.nodes.each { |key, holder| io.write("  #{node(key, holder, graph.focus == key)};\n") }
        graph.edges.each { |edge| io.write("  #{edge(edge)};\n") }
        io.write("  label=#{quoted([left_out(graph)])};\n") if graph.left_out.positive?
        io.write("}\n")
      end

      private

      def left_out(graph)
        "#{Units.count(graph.left_out)} more #{graph.left_out == 1 ? "reference is" : "references are"} not drawn"
      end

      def node(key, holder, focus)
        lines = [@objects.long(holder.object)[0, LONGEST], size(holder), holder.object.location].compact
        "#{name(key)} [label=#{quoted(lines)}#{", #{FOCUS}" if focus}#{", #{ROOT}" if holder.object.root?}]"
      end

      def size(holder)
        own = holder.object.bytes && Units.bytes(holder.object.bytes)
        return own unless holder.retained_bytes

        [holder.object.address_text, own, "retains #{Units.bytes(holder.retained_bytes)}"].compact.join(" · ")
      end

      def edge(edge)
        attributes = ["label=#{quoted([edge.name[0, LONGEST]])}"] if edge.name
        attributes = [*attributes, EDGES.fetch(edge.kind)].compact.join(", ")
        "#{name(edge.from)} -> #{name(edge.to)}#{" [#{attributes}]" unless attributes.empty?}"
      end

      def name(key)
        quoted([key.is_a?(Integer) ? format("0x%x", key) : "root #{key}"])
      end

      # Lines as one string: what is in them neither ends it nor means something to Graphviz.
      def quoted(lines)
        "\"#{lines.map { |line| Inert.text(line).gsub(/["\\]/) { |char| "\\#{char}" } }.join("\\n")}\""
      end
    end
  end
end
