# frozen_string_literal: true

require_relative "dominators"
require_relative "largest"

module Heapline
  module Heap
    # The objects that the page can show: those that retain most, what each of them holds, the ways from the roots to
    # all of these, and who else references the first. As columns: a node is a number.
    class Nodes
      # Objects that retain most; of each what it holds and who references it, at most.
      HOLDERS = 400
      HELD = 12
      # Of so many it is told by class what they hold, in so many classes.
      GROUPED = 100
      CLASSES = 8
      REFERRERS = 6
      # A page is to open at once, whatever the dump.
      MOST = 10_000
      # Longer ways are left out.
      LONGEST = 60
      NONE = -1

      # dump: HeapDump; objects: ObjectWords; strings: Page::Strings; most: nodes
      def initialize(dump, objects, strings, most: MOST)
        @dump = dump
        @objects = objects
        @strings = strings
        @most = most
        @numbers = {}
        @nodes = []
        @referrers = {}
        @groups = {}
      end

      # One object, with what is known of it besides.
      Node = Struct.new(:object, :retained, :objects, :holder, :via, :name)
      private_constant :Node

      # Hash of columns; `referrers`: Hash of a number to [how many there are, [number, name] …]; `held`: Hash of a
      # number to [class, how many of it that one holds, what these retain] ….
      def to_h
        collect
        { **texts, **figures, **ways, referrers: @referrers, held: @groups }
      end

      private

      def collect
        tree = @dump.dominators
        picks = Largest.new(tree).pick(HOLDERS)
        picks.each { |pick| retaining(pick.holder, pick.above&.holder) }
        tops = picks.map(&:holder)
        tops.each_with_index { |holder, at| inside(holder, tree, at < GROUPED) }
        @nodes.reject { |node| node.retained == NONE }.each { |node| way(node.object) }
        tops.each { |holder| referrers(holder.object) }
      end

      # What a holder holds, one by one and, where that is asked for, by class.
      def inside(holder, tree, grouped)
        held = tree.children(holder.object.address, grouped ? Dominators::LOOKED_AT : HELD)
        held.first(HELD).each { |each| retaining(each, holder) }
        groups(holder.object, held) if grouped
      end

      # Number of an object's node; nil where there is no room for one more.
      def number(object)
        @numbers.fetch(key(object)) do |key|
          next nil if @nodes.size >= @most

          @nodes << Node.new(object, NONE, NONE, NONE, NONE, 0)
          @numbers[key] = @nodes.size - 1
        end
      end

      def key(object)
        object.address || object.class_name
      end

      # above: the Holder that holds it, or nil
      def retaining(holder, above)
        number = number(holder.object) or return
        node = @nodes[number]
        return unless node.retained == NONE

        node.retained = holder.retained_bytes
        node.objects = holder.retained_objects
        node.holder = (above && number(above.object)) || NONE
      end

      # Each step of a shortest way is one nearer to a root, so that ways which meet are one from there.
      def way(object)
        steps = @dump.path(object.address)
        return if steps.nil? || steps.size > LONGEST

        steps.each_cons(2) do |from, to|
          before = number(from.object)
          here = number(to.object)
          next if before.nil? || here.nil? || @nodes[here].via != NONE

          @nodes[here].via = before
          @nodes[here].name = @strings.number(to.name)
        end
      end

      def referrers(object)
        here = number(object) or return
        found = @dump.referrers(object.address, limit: REFERRERS).filter_map do |reference|
          from = number(reference.object)
          from && [from, @strings.number(reference.name)]
        end
        @referrers[here] = [@dump.referrer_count(object.address), *found]
      end

      def groups(object, held)
        here = number(object) or return
        found = Holder.by_class(held).first(CLASSES)
        @groups[here] = found.map { |group| [@strings.number(group.key), group.count, group.bytes] }
      end

      def texts
        { words: column { |object| @strings.number(@objects.long(object)) },
          class: column { |object| @strings.number(object.class_name) },
          address: column { |object| object.address_text || "" },
          place: column { |object| @strings.number(object.file) },
          line: column { |object| object.line || NONE } }
      end

      def figures
        { bytes: column { |object| object.bytes || 0 }, generation: column { |object| object.generation || NONE },
          retained: @nodes.map(&:retained), retained_objects: @nodes.map(&:objects) }
      end

      def ways
        { holder: @nodes.map(&:holder), via: @nodes.map(&:via), name: @nodes.map(&:name) }
      end

      def column
        @nodes.map { |node| yield node.object }
      end
    end
  end
end
