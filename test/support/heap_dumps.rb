# frozen_string_literal: true

require "json"
require "set"

module Heapline
  # Heap dumps with planted graphs, and what is true of them, found slowly.
  module HeapDumps
    # Writes the lines of a dump. Objects are named by numbers of the test's choice; each lies at `address(number)`.
    class Builder
      BASE = 0x7f0000000000

      def self.address(number)
        BASE + (number * 40)
      end

      attr_reader :lines

      def initialize
        @lines = []
      end

      # references: numbers; more: further keys of the line
      def object(number, references = [], type: "OBJECT", memsize: 40, klass: nil, **more)
        line = { address: hex(number), type: type, class: klass && hex(klass),
                 references: references.map { |one| hex(one) }, memsize: memsize, **more }
        @lines << JSON.generate(line.compact)
        self
      end

      def klass(number, name, **more)
        object(number, type: "CLASS", name: name, memsize: 500, **more)
      end

      def root(name, references)
        @lines << JSON.generate(type: "ROOT", root: name, references: references.map { |one| hex(one) })
        self
      end

      # names: Hash of number => name
      def names(from, names)
        origin = from.is_a?(String) ? { root: from } : { address: hex(from) }
        names = names.transform_keys { |number| hex(number) }
        @lines << JSON.generate(type: "HEAPLINE_NAMES", **origin, names: names)
        self
      end

      def to_s
        @lines.map { |line| "#{line}\n" }.join
      end

      private

      def hex(number)
        format("0x%x", Builder.address(number))
      end
    end

    # A graph of numbers: edges is a Hash of number => numbers, sizes one of number => bytes.
    class Oracle
      def initialize(edges, roots, sizes)
        @edges = edges
        @roots = roots
        @sizes = sizes
      end

      # Set of what can be reached, also without one node.
      def reached(without: nil)
        seen = Set.new
        todo = @roots.reject { |node| node == without }
        until todo.empty?
          node = todo.pop
          next unless seen.add?(node)

          todo.concat(@edges.fetch(node, []).reject { |to| to == without })
        end
        seen
      end

      # Hash of node => Set of what only it leads to, itself included.
      def dominated
        @dominated ||= reached.to_h { |node| [node, reached - reached(without: node)] }
      end

      def retained(node)
        dominated[node].sum { |one| @sizes.fetch(one) }
      end

      # The nearest of those that dominate the node; nil: none does.
      def dominator(node)
        above = dominated.keys.select { |one| one != node && dominated[one].include?(node) }
        above.min_by { |one| dominated[one].size }
      end

      # Steps from the roots to the node, the roots being 1 away; nil where nothing leads to it.
      def distance(node)
        distance = 1
        seen = Set.new(@roots)
        until seen.include?(node)
          more = seen.flat_map { |one| @edges.fetch(one, []) }.to_set
          return nil if more.subset?(seen)

          seen.merge(more)
          distance += 1
        end
        distance
      end
    end

    # Yields the HeapDump of a text; options are those of HeapDump.open.
    def opened(text, **options)
      in_directory do |directory|
        path = File.join(directory, "dump.json")
        File.binwrite(path, text.to_s)
        yield HeapDump.open(path, **options)
      end
    end

    def address(number)
      Builder.address(number)
    end

    # The number of an object, or a root's name.
    def number(object)
      object.root? ? object.class_name : (object.address - Builder::BASE) / 40
    end
  end
end
