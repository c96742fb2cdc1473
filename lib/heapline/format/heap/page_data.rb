# frozen_string_literal: true

require_relative "../../model/gem_name"
require_relative "../../version"
require_relative "../html/strings"
require_relative "facts"
require_relative "nodes"
require_relative "objects"

module Heapline
  module Format
    module Heap
      # All that the page of a dump shows, as plain Hashes and Arrays for JSON; assets/src/heap/data.ts reads it.
      # Bounded, however large the dump is. Names and values are inert.
      class PageData
        CLASSES = 3000
        LINES = 5000
        EQUAL_STRINGS = 200
        ALL = (2**31) - 1

        # values: false hides what strings are.
        def initialize(values: true)
          @values = values
          @objects = Objects.new(values: values)
        end

        # The Hash for a HeapDump.
        def of(dump)
          @strings = Format::Html::Strings.new
          summary = dump.summary
          { version: VERSION, file: Inert.text(dump.name[%r{[^/]*\z}]), tiles: tiles(dump), total: summary.bytes,
            facts: Facts.of(summary).map { |fact| Inert.text(fact) },
            problems: dump.problems.map { |problem| Inert.text(problem) },
            nodes: Nodes.new(dump, @objects, @strings).to_h, classes: classes(dump), lines: lines(dump),
            equal: equal(dump), strings: @strings.all }
        end

        private

        # Array of [name, figure, what it means or nil].
        def tiles(dump)
          summary = dump.summary
          [["objects", Units.count(summary.objects), "#{Units.count(summary.references)} references"],
           ["memory", Units.bytes(summary.bytes), "#{Units.bytes(summary.slot_bytes)} in slots"],
           garbage(dump.dominators.unreachable), traced(summary)]
        end

        def garbage(group)
          ["garbage", Units.bytes(group.bytes), "no root leads to #{@objects.count(group.count, "objects")}"]
        end

        def traced(summary)
          return ["lines", "none", "made without allocation tracing"] if summary.traced.zero?

          ["lines", "#{(100.0 * summary.traced / [summary.objects, 1].max).round} %", "of the objects have theirs"]
        end

        # Columns of classes, the largest first; `rest`: [how many others, their bytes, their count].
        def classes(dump)
          retained = dump.dominators.by_class(ALL).to_h { |group| [group.key, group.bytes] }
          groups = dump.histogram(by: :class)
          shown = groups.first(CLASSES)
          { name: shown.map { |group| @strings.number(group.key) }, **figures(shown),
            retained: shown.map { |group| retained.fetch(group.key, 0) }, rest: rest(groups.drop(CLASSES)) }
        end

        # The same of lines; nil where the dump has none.
        def lines(dump)
          return nil if dump.summary.traced.zero?

          groups = dump.histogram(by: :line)
          shown = groups.first(LINES)
          places = shown.map { |group| group.key.match(/\A(.*):(\d+)\z/m)&.captures || [group.key, -1] }
          { place: places.map { |path, _| @strings.number(path) }, line: places.map { |_, line| line.to_i },
            gem: places.map { |path, _| @strings.number(Model::GemName.of(path)) }, **figures(shown),
            rest: rest(groups.drop(LINES)) }
        end

        def figures(groups)
          %i[bytes count slot_bytes].to_h { |figure| [figure, groups.map(&figure)] }
        end

        def rest(groups)
          [groups.size, groups.sum(&:bytes), groups.sum(&:count)]
        end

        # Columns of values that many strings have.
        def equal(dump)
          rows = dump.duplicate_strings(limit: EQUAL_STRINGS)
          { value: rows.map { |row| @strings.number(value(row)) },
            **%i[bytesize count bytes wasted_bytes].to_h { |figure| [figure, rows.map(&figure)] } }
        end

        def value(row)
          @values ? @objects.quoted(row.value, cut: row.cut?) : "hidden"
        end
      end
    end
  end
end
