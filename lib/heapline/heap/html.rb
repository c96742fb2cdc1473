# frozen_string_literal: true

require_relative "../places/location"
require_relative "../version"
require_relative "../page/data"
require_relative "groups"
require_relative "nodes"
require_relative "object_columns"
require_relative "object_words"
require_relative "../page/document"

module Heapline
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
        @objects = ObjectWords.new(values: values)
      end

      # The Hash for a HeapDump.
      def of(dump)
        @strings = Heapline::Page::Strings.new
        summary = dump.summary
        { version: VERSION, columns: columns, file: Inert.text(dump.name[%r{[^/]*\z}]), tiles: tiles(dump),
          total: summary.bytes,
          facts: summary.facts.map { |fact| Inert.text(fact) },
          problems: dump.problems.map { |problem| Inert.text(problem) },
          nodes: Nodes.new(dump, @objects, @strings).to_h, classes: classes(dump), lines: lines(dump),
          equal: equal(dump), strings: @strings.all }
      end

      private

      # Of each table, as it is declared for text.
      def columns
        { holders: ObjectColumns::HOLDER, classes: [*Groups::COLUMNS, Groups::RETAINED.first], lines: Groups::COLUMNS,
          equal: Groups::EQUAL }.transform_values { |columns| columns.map(&:declared) }
      end

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
        defined = shown.map { |group| dump.definition(group.key) }
        { name: shown.map { |group| @strings.number(group.key) }, **figures(shown),
          place: defined.map { |place| @strings.number(place&.path) },
          line: defined.map { |place| place&.lineno || -1 },
          retained_bytes: shown.map { |group| retained.fetch(group.key, 0) }, rest: rest(groups.drop(CLASSES)) }
      end

      # The same of lines; nil where the dump has none.
      def lines(dump)
        return nil if dump.summary.traced.zero?

        groups = dump.histogram(by: :line)
        shown = groups.first(LINES)
        places = shown.map { |group| group.key.match(/\A(.*):(\d+)\z/m)&.captures || [group.key, -1] }
        { place: places.map { |path, _| @strings.number(path) }, line: places.map { |_, line| line.to_i },
          gem: places.map { |path, _| @strings.number(Places::GemName.of(path)) }, **figures(shown),
          rest: rest(groups.drop(LINES)) }
      end

      def figures(groups)
        Groups::KEYS.to_h { |figure| [figure, groups.map(&figure)] }
      end

      def rest(groups)
        [groups.size, groups.sum(&:bytes), groups.sum(&:count)]
      end

      # Columns of values that many strings have.
      def equal(dump)
        rows = dump.duplicate_strings(limit: EQUAL_STRINGS)
        { value: rows.map { |row| @strings.number(value(row)) },
          **[:bytesize, *Groups::EQUAL.map(&:key)].to_h { |figure| [figure, rows.map(&figure)] } }
      end

      def value(row)
        @values ? @objects.quoted(row.value, cut: row.cut?) : "hidden"
      end
    end

    # A heap dump as one HTML file that needs nothing else; see Page::Document.
    class Html
      # values: false hides what strings are.
      def initialize(values: true)
        @data = PageData.new(values: values)
      end

      # Write the page of `dump` (HeapDump) to `io`.
      def render(dump, io)
        title = "#{dump.name[%r{[^/]*\z}]} · heap dump"
        Heapline::Page::Document.new("heap.js").write(io, title: title, data: @data.of(dump))
      end
    end
  end
end
