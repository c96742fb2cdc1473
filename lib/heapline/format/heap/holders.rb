# frozen_string_literal: true

require_relative "../../model/heap/held"
require_relative "../../model/heap/largest"
require_relative "../units"
require_relative "object_columns"
require_relative "objects"
require_relative "path_words"
require_relative "sheet"

module Heapline
  module Format
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
        # Of Model::Heap::Group
        CLASS = [Columns::Column.new(key: :retained_bytes, title: "retained", figure: :bytes, unit: :bytes),
                 Columns::Column.new(key: :count, title: "instances", figure: :count, unit: :count),
                 Columns::Column.new(key: :slot_bytes, title: "own slots", figure: :slot_bytes, unit: :bytes)].freeze

        # top: rows (0: all). values: false hides what strings are.
        def initialize(top: 20, values: true)
          @top = top
          @objects = Objects.new(values: values)
          @columns = ObjectColumns.new(@objects)
        end

        # Of the whole of `dump` (HeapDump): the objects that retain most, each below the one that holds it. Returns a
        # Sheet.
        def sheet(dump)
          tree = dump.dominators
          depths = nested(Model::Heap::Largest.new(tree).pick(limit))
          answer(dump, @columns.holders(depths.keys, tree.reachable.bytes, key: :holders, depths: depths,
                                                                           ways: ways(dump, depths)))
        end

        # The same by class.
        def by_class(dump)
          tree = dump.dominators
          answer(dump, classes(tree.by_class(limit), tree.reachable.bytes, key: :classes))
        end

        # What `object` dominates, and who dominates it. Returns nil where no root leads to it.
        def under(dump, object)
          tree = dump.dominators
          holder = tree.retained(object.address)
          return nil unless holder

          chain = @columns.holders(chain(tree, object.address), tree.reachable.bytes, key: :holders, sorted: nil,
                                                                                      title: HELD_BY)
          held = tree.children(object.address, [limit, Model::Heap::Held::LOOKED_AT].max)
          answer(dump, itself(holder, tree), chain, held_classes(Model::Heap::Held.by_class(held), holder),
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
        def classes(groups, total, **others)
          share = ->(group) { group.bytes / [total, 1].max.to_f }
          columns = CLASS.dup.insert(1, Columns::Column.new(key: :share, title: "share", figure: share, unit: :share))
          Listing.new(rows: groups, columns: columns, sorted: :retained_bytes, name: "class", **others,
                      label: ->(group) { Label.new(text: group.key) }, data: ->(group) { { class: group.key } })
        end

        def held_classes(groups, holder)
          shown = @top.zero? ? groups : groups.first(@top)
          classes(shown, holder.retained_bytes, key: :held_classes, title: HOLDS_CLASSES, total: groups.size)
        end

        def limit
          @top.zero? ? ALL : @top
        end

        def answer(dump, *parts)
          Sheet.new(kind: "dominators", dumps: [Dump.new(name: dump.name, summary: dump.summary)],
                    parts: [totals(dump.dominators), *parts], problems: dump.problems)
        end

        def totals(tree)
          groups = { reachable: tree.reachable, unreachable: tree.unreachable }
          parts = ["roots lead to #{words(tree.reachable)}"]
          parts << "garbage not yet collected: #{words(tree.unreachable)}" if tree.unreachable.count.positive?
          Statement.new(key: :totals, parts: parts,
                        data: groups.transform_values { |group| group.to_h.slice(:count, :bytes, :slot_bytes) })
        end

        def words(group)
          "#{Units.bytes(group.bytes)} in #{@objects.count(group.count, "objects")}"
        end

        def itself(holder, tree)
          object = holder.object
          share = 100.0 * holder.retained_bytes / [tree.reachable.bytes, 1].max
          retained = "#{Units.bytes(holder.retained_bytes)} in #{@objects.count(holder.retained_objects, "objects")}"
          parts = [@objects.long(object), object.address_text, object.file && Label.new(place: object.location),
                   "retains #{retained}, #{format("%.1f", share)} % of all", "own #{Units.bytes(object.bytes)}"]
          data = { **@objects.data(object), **holder.to_h.slice(:retained_bytes, :retained_objects) }
          Statement.new(key: :object, parts: parts.compact, data: data)
        end

        def chain(tree, address)
          chain = []
          while chain.size < CHAIN && (holder = tree.parent(chain.last&.object&.address || address))
            chain << holder
          end
          chain
        end
      end
    end
  end
end
