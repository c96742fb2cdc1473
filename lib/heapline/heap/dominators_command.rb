# frozen_string_literal: true

require_relative "groups"
require_relative "largest"
require_relative "object_columns"
require_relative "object_words"
require_relative "path_words"
require_relative "question"

module Heapline
  module Heap
    # What `heapline heap dominators` answers: which objects retain most, what one of them holds, or what the
    # instances of each class retain together.
    class Holders
      ALL = (2**31) - 1
      # Objects that hold the object asked for, each the one before, at most.
      CHAIN = 30
      HELD_BY = "Held by; the share is of all"
      HOLDS = "Holds; the share is of what it retains"
      HOLDS_CLASSES = "Holds, by class"

      # top: rows (0: all). values: false hides what strings are.
      def initialize(top: 20, values: true)
        @top = top
        @objects = ObjectWords.new(values: values)
        @columns = ObjectColumns.new(@objects)
      end

      # Of the whole of `dump` (HeapDump): the objects that retain most, each below the one that holds it. Returns a
      # Sheet.
      def sheet(dump)
        tree = dump.dominators
        depths = nested(Largest.new(tree).pick(limit))
        answer(dump, @columns.holders(depths.keys, tree.reachable.bytes, key: :holders, depths: depths,
                                                                         ways: ways(dump, depths)))
      end

      # The same by class.
      def by_class(dump)
        tree = dump.dominators
        answer(dump, classes(dump, tree.by_class(limit), tree.reachable.bytes, key: :classes))
      end

      # What `object` dominates, and who dominates it. Returns nil where no root leads to it.
      def under(dump, object)
        tree = dump.dominators
        holder = tree.retained(object.address)
        return nil unless holder

        chain = @columns.holders(chain(tree, object.address), tree.reachable.bytes, key: :holders, sorted: nil,
                                                                                    title: HELD_BY)
        held = tree.children(object.address, [limit, Dominators::LOOKED_AT].max)
        answer(dump, itself(holder, tree), chain, held_classes(dump, Holder.by_class(held), holder),
               @columns.holders(held.first(limit), holder.retained_bytes, key: :held, title: HOLDS))
      end

      private

      # Hash of Holder to its depth, in the order in which they are shown: below each what it holds.
      def nested(picks)
        held = Hash.new { |all, above| all[above] = [] }.compare_by_identity
        picks.each { |pick| held[pick.above] << pick }
        waiting = held[nil].reverse.map { |pick| [pick, 0] }
        depths = {}.compare_by_identity
        while (pick, depth = waiting.pop)
          depths[pick.holder] = depth
          waiting.concat(held[pick].reverse.map { |inner| [inner, depth + 1] })
        end
        depths
      end

      # Hash of Holder to who has it, on the shortest way from a root; without those that stand below that one anyway.
      def ways(dump, depths)
        words = PathWords.new(@objects)
        depths.each_with_object({}.compare_by_identity) do |(holder, depth), ways|
          from, to = depth.zero? ? dump.path(holder.object.address)&.last(2) : nil
          ways[holder] = words.link(from.object, to) if from && to
        end
      end

      # Groups by class, of which `bytes` is what they retain; total: bytes that are the whole.
      def classes(dump, groups, total, **others)
        columns = Groups::RETAINED.map { |column| column.unit == :share ? column.share(total) : column }
        Table::Listing.new(rows: groups, columns: columns, sorted: :retained_bytes, name: "class", **others,
                           label: ->(group) { Groups.label(:class, group.key, dump.definition(group.key)) },
                           data: ->(group) { Groups.data(:class, group.key, dump.definition(group.key)) })
      end

      def held_classes(dump, groups, holder)
        shown = @top.zero? ? groups : groups.first(@top)
        classes(dump, shown, holder.retained_bytes, key: :held_classes, title: HOLDS_CLASSES, total: groups.size)
      end

      def limit
        @top.zero? ? ALL : @top
      end

      def answer(dump, *parts)
        Question.sheet("dominators", dump, totals(dump.dominators), *parts)
      end

      def totals(tree)
        groups = { reachable: tree.reachable, unreachable: tree.unreachable }
        parts = ["roots lead to #{words(tree.reachable)}"]
        parts << "garbage not yet collected: #{words(tree.unreachable)}" if tree.unreachable.count.positive?
        Table::Statement.new(key: :totals, parts: parts,
                             data: groups.transform_values do |group|
                               group.to_h.slice(:count, :bytes, :slot_bytes)
                             end)
      end

      def words(group)
        "#{Units.bytes(group.bytes)} in #{@objects.count(group.count, "objects")}"
      end

      def itself(holder, tree)
        object = holder.object
        share = 100.0 * holder.retained_bytes / [tree.reachable.bytes, 1].max
        retained = "#{Units.bytes(holder.retained_bytes)} in #{@objects.count(holder.retained_objects, "objects")}"
        parts = [@objects.long(object), object.address_text, object.file && Table::Label.new(place: object.location),
                 "retains #{retained}, #{format("%.1f", share)} % of all", "own #{Units.bytes(object.bytes)}"]
        data = { **@objects.data(object), **holder.to_h.slice(:retained_bytes, :retained_objects) }
        Table::Statement.new(key: :object, parts: parts.compact, data: data)
      end

      def chain(tree, address)
        chain = []
        while chain.size < CHAIN && (holder = tree.parent(chain.last&.object&.address || address))
          chain << holder
        end
        chain
      end
    end

    # `heapline heap dominators FILE`: which objects retain most.
    class DominatorsCommand < Question
      USAGE_LINE = "heap dominators [options] FILE"
      SUMMARY = "Show which objects retain most: what would be freed with each"

      private

      def define(parser)
        parser.on("--under ADDRESS", "what this object holds, and what holds it") { |value| @options[:under] = value }
        parser.on("--by GROUP", %i[class], "class: what the instances of each class retain together") do |value|
          @options[:by] = value
        end
        define_top(parser)
        define_values(parser)
        super
      end

      def answer(words)
        raise UsageError, "--by and --under do not go together" if @options[:by] && @options[:under]

        dump = dump_of(words, index: true)
        holders = Holders.new(**@options.slice(:top, :values))
        return holders.by_class(dump) if @options[:by]
        return holders.sheet(dump) unless @options[:under]

        holders.under(dump, object(dump, @options[:under])) or
          raise Error, "no root leads to #{@options[:under]}: it is garbage that was not collected yet"
      end
    end
  end
end
