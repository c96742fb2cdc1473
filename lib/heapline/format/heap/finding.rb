# frozen_string_literal: true

require_relative "../units"
require_relative "object_columns"
require_relative "objects"
require_relative "path_words"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # What `heapline heap find FILE ADDRESS` answers: the object, who references it, what it references, and the
      # shortest path from a root to it.
      class Finding
        # No object has so many references.
        ALL = (2**31) - 1
        # Steps of a path that are shown at each of its ends.
        END_STEPS = 30

        # top: rows of each table (0: all). path: also the path. values: false hides what strings are.
        def initialize(top: 20, path: false, values: true)
          @top = top
          @path = path
          @objects = Objects.new(values: values)
          @columns = ObjectColumns.new(@objects)
        end

        # object: of `dump` (HeapDump). Returns a Sheet.
        def sheet(dump, object)
          parts = [itself(object), *(@path ? way(dump, object) : []), referrers(dump, object), references(dump, object)]
          Sheet.new(kind: "find", dumps: [Dump.new(name: dump.name, summary: dump.summary)], parts: parts,
                    problems: dump.problems)
        end

        private

        def itself(object)
          facts = [@objects.long(object), object.address_text,
                   object.file && Label.new(place: object.location), object.label,
                   object.generation && "generation #{object.generation}",
                   "#{Units.bytes(object.bytes)}, of these #{Units.bytes(object.slot_bytes)} its slot", *flags(object)]
          Statement.new(key: :object, parts: facts.compact, data: @objects.data(object))
        end

        def flags(object)
          %i[embedded shared frozen interned singleton].select { |flag| object[flag] }.map(&:to_s)
        end

        def way(dump, object)
          steps = dump.path(object.address)
          return [unreachable] unless steps

          parts = PathWords.new(@objects).parts(steps)
          text = parts.join(PathWords::ARROW)
          [Statement.new(key: :path_text, title: "Path from a root", parts: [*parts[..-2], origin(parts.last, object)],
                         separator: PathWords::ARROW, data: text), steps(steps)]
        end

        # The end of a path: where and when the object was allocated.
        def origin(text, object)
          return text unless object.file

          generation = object.generation && "(generation #{object.generation})"
          Label.new(text: [text, generation].compact.join(" "), place: object.location)
        end

        def unreachable
          Statement.new(key: :path, title: "Path from a root", data: nil,
                        parts: ["none: it is garbage that was not collected when the dump was made"])
        end

        # The path step by step, with the addresses; of a long one its ends.
        def steps(steps)
          left = steps.size - (2 * END_STEPS)
          shown = left.positive? ? steps.first(END_STEPS) + steps.last(END_STEPS) : steps
          title = "#{Units.count(left)} steps in the middle are left out" if left.positive?
          @columns.references(shown, key: :path, title: title)
        end

        def referrers(dump, object)
          total = dump.referrer_count(object.address)
          rows = dump.referrers(object.address, limit: @top.zero? ? total : @top)
          @columns.references(rows, key: :referrers, total: total, title: "Referenced by")
        end

        def references(dump, object)
          rows = dump.references(object.address, limit: @top.zero? ? ALL : @top + 1)
          shown = @top.zero? ? rows : rows.first(@top)
          more = rows.size > shown.size ? ", the first #{Units.count(@top)} (all: --top 0)" : ""
          @columns.references(shown, key: :references, title: "References#{more}")
        end
      end
    end
  end
end
