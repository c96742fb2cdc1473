# frozen_string_literal: true

require_relative "objects"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # A Model::Heap::Graph as a Sheet, for JSON.
      class Drawing
        # values: false hides what strings are.
        def initialize(values: true)
          @objects = Objects.new(values: values)
        end

        # graph: of `dump` (HeapDump). Returns a Sheet.
        def sheet(dump, graph)
          Sheet.new(kind: "graph", dumps: [Dump.new(name: dump.name, summary: dump.summary)],
                    parts: [nodes(graph), edges(graph)], problems: dump.problems)
        end

        private

        def nodes(graph)
          Listing.new(key: :nodes, rows: graph.nodes.to_a, columns: [],
                      data: ->((key, holder)) { node(key, holder, graph.focus) })
        end

        def node(key, holder, focus)
          { key: name(key), focus: key == focus, **@objects.data(holder.object), retained_bytes: holder.retained_bytes }
        end

        def edges(graph)
          Listing.new(key: :edges, rows: graph.edges, columns: [],
                      data: ->(edge) { { **edge.to_h, from: name(edge.from), to: name(edge.to) } })
        end

        def name(key)
          key.is_a?(Integer) ? format("0x%x", key) : key
        end
      end
    end
  end
end
