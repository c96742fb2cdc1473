# frozen_string_literal: true

require_relative "graph"
require_relative "holder"

module Heapline
  module Model
    module Heap
      # Picks the Graph around one object: its way from a root, who else references it, and what it references, nearest
      # first.
      class Surroundings
        # Of the nodes, at most this part is for the way from the root, and for referrers.
        WAY = 0.4
        REFERRERS = 0.25

        # dump: HeapDump; limit: of nodes
        def initialize(dump, limit)
          @dump = dump
          @limit = limit
          @nodes = {}
          @edges = {}
          @left_out = 0
        end

        # Around `object`. Returns a Graph.
        def graph(object)
          add(object)
          way(object)
          referrers(object)
          references(object)
          Graph.new(nodes: @nodes.freeze, edges: @edges.values.freeze, focus: Graph.key(object), left_out: @left_out)
        end

        private

        # The last steps of the way, and the root.
        def way(object)
          steps = @dump.path(object.address) or return
          most = [(@limit * WAY).ceil, 2].max
          shown = steps.size > most ? [steps.first, *steps.last(most - 1)] : steps
          shown.each { |step| add(step.object) }
          shown.each_cons(2).with_index do |(from, to), index|
            gap = index.zero? && shown.size < steps.size
            join(from.object, to.object, gap ? nil : to.name, gap ? :holds : :path)
          end
        end

        def referrers(object)
          @dump.referrers(object.address, limit: (@limit * REFERRERS).ceil).each do |reference|
            draw(reference.object, object, reference.name, reference.object)
          end
        end

        def references(object)
          waiting = [object]
          seen = { object.address => true }
          waiting.each do |from|
            @dump.references(from.address, limit: @limit).each do |reference|
              to = reference.object
              waiting << to if draw(from, to, reference.name, to) && !seen.key?(to.address)
              seen[to.address] = true
            end
          end
        end

        # An edge, with `other` end where there is room for it.
        def draw(from, to, name, other)
          unless @nodes.key?(Graph.key(other)) || @nodes.size < @limit
            @left_out += 1
            return nil
          end

          add(other)
          join(from, to, name, :reference)
        end

        def add(object)
          @nodes[Graph.key(object)] ||= Holder.new(object: object)
        end

        # What is on the way from the root stays that.
        def join(from, to, name, kind)
          key = [Graph.key(from), Graph.key(to)]
          @edges[key] ||= Edge.new(from: key.first, to: key.last, name: name, kind: kind)
        end
      end
    end
  end
end
