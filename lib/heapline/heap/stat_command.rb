# frozen_string_literal: true

require_relative "groups"
require_relative "object_words"
require_relative "question"

module Heapline
  module Heap
    # What `heapline heap stat` answers: totals, types, strings, roots, and the values that many strings have.
    class Statistics
      ROOT_COLUMNS = [Figures::Columns::Column.new(key: :references, title: "references", figure: :last,
                                                   unit: :count)].freeze
      TOTALS = %i[objects free_slots slots bytes slot_bytes references traced shapes shape_bytes].freeze

      # top: rows of the table of strings. values: false hides what the strings are.
      def initialize(top: 20, values: true)
        @top = top
        @objects = ObjectWords.new(values: values)
        @values = values
      end

      # dump: HeapDump. Returns a Sheet.
      def sheet(dump)
        summary = dump.summary
        Question.sheet("stat", dump, totals(summary), types(summary), strings(summary), roots(summary),
                       duplicates(dump))
      end

      private

      def totals(summary)
        generations = summary.generations&.minmax
        parts = ["#{Units.bytes(summary.slot_bytes)} in slots",
                 "#{Units.bytes(summary.bytes - summary.slot_bytes)} outside of them",
                 "#{Units.count(summary.references)} references", free(summary), *tracing(summary),
                 shapes(summary)]
        Table::Statement.new(key: :totals, parts: parts.compact,
                             data: TOTALS.to_h do |key|
                               [key, summary.public_send(key)]
                             end.merge(generations: generations))
      end

      def free(summary)
        "#{Units.count(summary.free_slots)} free slots" if summary.free_slots.positive?
      end

      def tracing(summary)
        return ["not traced: no lines, no generations"] if summary.traced.zero?

        ["#{Units.count(summary.traced)} objects with their line",
         summary.generations && "generations #{summary.generations.minmax.uniq.join(" to ")}"]
      end

      def shapes(summary)
        return unless summary.shapes.positive?

        "#{Units.count(summary.shapes)} shapes, #{Units.bytes(summary.shape_bytes)}"
      end

      def types(summary)
        Groups.new(summary.bytes).listing(:type, summary.types, top: 0, key: :types, title: "Types")
      end

      def strings(summary)
        bytes = summary.strings.sum(&:bytes)
        Groups.new(bytes).listing(:kind, summary.strings, top: 0, key: :strings, title: "Strings",
                                                          name: "where their bytes are")
      end

      def roots(summary)
        rows = summary.roots.sort_by { |name, references| [-references, name] }
        Table::Listing.new(key: :roots, title: "Roots", rows: rows, total: rows.size, columns: ROOT_COLUMNS,
                           sorted: :references, name: "root", data: ->((name, _)) { { root: name } },
                           label: lambda { |(name, _)|
                             Table::Label.new(text: [name, ObjectWords::ROOTS[name]].compact.join("  "))
                           })
      end

      def duplicates(dump)
        rows = dump.duplicate_strings(limit: @top)
        Table::Listing.new(key: :duplicate_strings, title: "Strings with the same value", rows: rows, name: "value",
                           columns: Groups::EQUAL, sorted: :wasted_bytes,
                           label: ->(row) { Table::Label.new(text: words(row)) },
                           data: ->(row) { { value: @values ? row.value : nil, bytesize: row.bytesize } })
      end

      def words(row)
        value = @values ? @objects.quoted(row.value, cut: row.cut?) : "hidden"
        "#{value}  #{@objects.count(row.bytesize, "bytes")}"
      end
    end

    # `heapline heap stat FILE`: totals, and strings that are there many times.
    class StatCommand < Question
      USAGE_LINE = "heap stat [options] FILE"
      SUMMARY = "Show a dump's totals: slots, types, strings, roots, and what equal strings cost"

      private

      def define(parser)
        define_top(parser)
        define_values(parser)
        super
      end

      def answer(words)
        Statistics.new(**@options.slice(:top, :values)).sheet(dump_of(words, strings: true))
      end
    end
  end
end
