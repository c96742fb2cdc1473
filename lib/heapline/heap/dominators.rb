# frozen_string_literal: true

require_relative "../frozen"
require_relative "survey"

module Heapline
  module Heap
    # An object and what would be freed with it: all that can be reached only through it.
    #
    # object::            Object
    # retained_bytes::    memsize of the object and of all that it dominates
    # retained_objects::  their count, the object included
    Holder = Struct.new(:object, :retained_bytes, :retained_objects, keyword_init: true) do
      include Frozen

      # Array of Group by class, the largest first: `bytes` is what the objects retain. holders: Array of Holder, what
      # Dominators#children gives of one: a Hash of 100,000 sessions is one row.
      def self.by_class(holders)
        groups = holders.group_by { |holder| holder.object.class_name }.map do |name, same|
          Group.new(key: name, count: same.size, bytes: same.sum(&:retained_bytes),
                    slot_bytes: same.sum { |holder| holder.object.slot_bytes })
        end
        groups.sort_by { |group| [-group.bytes, group.key] }
      end
    end

    # The dominator tree of a dump: an object dominates what can be reached from the roots only through it, and
    # retains the bytes of all that. Bytes are memsize.
    class Dominators
      # Of what one object holds at once so many are looked at by class, the largest.
      LOOKED_AT = 20_000

      # tree: the native reader after it has made its tree; objects: called with a row of it, returns an Object
      def initialize(tree, objects)
        @tree = tree
        @objects = objects
        freeze
      end

      # Array of Holder: the n objects that retain most, whichever dominates which.
      def top(count = 20)
        holders(@tree.top_holders(count))
      end

      # What the object at `address` retains (Holder); nil where there is none, or nothing leads to it.
      def retained(address)
        row = @tree.holder(address)
        row && holder(row)
      end

      # Array of Holder: what the object dominates at once, the largest first; address nil: what no object dominates.
      def children(address = nil, count = 20)
        holders(@tree.held(address, count))
      end

      # The object that dominates the one at `address` (Holder); nil: only the roots together do.
      def parent(address)
        row = @tree.holder_of(address)
        row && holder(row)
      end

      # Array of Group: what the instances of each class retain together, largest first. count: all instances that
      # can be reached; bytes: what they retain, an instance within another one of its class not counted twice;
      # slot_bytes: of their own slots.
      def by_class(count = 20)
        @tree.class_holders(count).map do |key, instances, bytes, slots|
          Group.new(key: key, count: instances, bytes: bytes, slot_bytes: slots)
        end
      end

      # Group of all that can be reached from the roots.
      def reachable
        group("reachable", @tree.reachable)
      end

      # Group of what no root leads to: garbage that was not collected yet when the dump was made.
      def unreachable
        group("unreachable", @tree.unreachable)
      end

      private

      def group(key, figures)
        Group.new(key: key, **%i[count bytes slot_bytes].zip(figures).to_h)
      end

      def holders(rows)
        rows.map { |row| holder(row) }
      end

      def holder((object, bytes, count))
        Holder.new(object: @objects.call(object), retained_bytes: bytes, retained_objects: count)
      end
    end
  end
end
