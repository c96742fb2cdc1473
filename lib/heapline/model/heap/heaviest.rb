# frozen_string_literal: true

require_relative "graph"
require_relative "object"

module Heapline
  module Model
    module Heap
      # Picks the heaviest part of the dominator tree as a Graph: from the roots on always the object that retains most.
      class Heaviest
        # dominators: Dominators; limit: of nodes, the one that stands for all roots not counted
        def initialize(dominators, limit)
          @dominators = dominators
          @limit = limit
        end

        # Returns a Graph.
        def graph
          nodes = { ROOTS.class_name => roots }
          edges = []
          waiting = held(nil, ROOTS.class_name)
          while nodes.size <= @limit && (from, holder = waiting.shift)
            key = Graph.key(holder.object)
            nodes[key] = holder
            edges << Edge.new(from: from, to: key, kind: :holds)
            waiting = heaviest(waiting + held(key, key))
          end
          Graph.new(nodes: nodes.freeze, edges: edges.freeze, left_out: waiting.size)
        end

        ROOTS = Object.new(type: "ROOT", class_name: "all roots")
        private_constant :ROOTS

        private

        # What stands for all roots.
        def roots
          all = @dominators.reachable
          Holder.new(object: ROOTS, retained_bytes: all.bytes, retained_objects: all.count)
        end

        # Array of [key of the holder, Holder].
        def held(address, key)
          @dominators.children(address, @limit).map { |holder| [key, holder] }
        end

        def heaviest(pairs)
          pairs.sort_by { |_, holder| [-holder.retained_bytes, holder.object.address] }.first(@limit)
        end
      end
    end
  end
end
