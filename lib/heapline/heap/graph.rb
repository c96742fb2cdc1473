# frozen_string_literal: true

require_relative "../frozen"
require_relative "dominators"
require_relative "object"

module Heapline
  module Heap
    # A part of a dump's graph that is small enough to be drawn.
    #
    # nodes::    Hash of a key to a Holder; what it retains is nil where that was not asked for
    # edges::    Array of Edge, each once
    # focus::    key of the node that it is about, or nil
    # left_out:: references that were seen and whose ends are not both drawn; there may be more
    Graph = Struct.new(:nodes, :edges, :focus, :left_out, keyword_init: true) do
      include Frozen

      # What a node is known by: the address, of a root its name.
      def self.key(object)
        object.address || object.class_name
      end
    end

    # from, to:: keys of nodes; name:: as in Reference
    # kind::     :reference; :path, on the way from a root; :holds, where what lies between the two is not drawn
    Edge = Struct.new(:from, :to, :name, :kind, keyword_init: true) { include Frozen }

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
