# frozen_string_literal: true

require_relative "../units"
require_relative "groups"
require_relative "objects"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # What `heapline heap stat` answers: totals, types, strings, roots, and the values that many strings have.
      class Statistics
        ROOT_COLUMNS = [Columns::Column.new(key: :references, title: "references", figure: :last, unit: :count)].freeze
        DUPLICATE_COLUMNS = [
          Columns::Column.new(key: :wasted_bytes, title: "wasted", figure: :wasted_bytes, unit: :bytes),
          Columns::Column.new(key: :count, title: "strings", figure: :count, unit: :count),
          Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes)
        ].freeze
        TOTALS = %i[objects free_slots slots bytes slot_bytes references traced shapes shape_bytes].freeze

        # top: rows of the table of strings. values: false hides what the strings are.
        def initialize(top: 20, values: true)
          @top = top
          @objects = Objects.new(values: values)
          @values = values
        end

        # dump: HeapDump. Returns a Sheet.
        def sheet(dump)
          summary = dump.summary
          Sheet.new(kind: "stat", dumps: [Dump.new(name: dump.name, summary: summary)], problems: dump.problems,
                    parts: [totals(summary), types(summary), strings(summary), roots(summary), duplicates(dump)])
        end

        private

        def totals(summary)
          generations = summary.generations&.minmax
          parts = ["#{Units.bytes(summary.slot_bytes)} in slots",
                   "#{Units.bytes(summary.bytes - summary.slot_bytes)} outside of them",
                   "#{Units.count(summary.references)} references", free(summary), *tracing(summary), shapes(summary)]
          Statement.new(key: :totals, parts: parts.compact,
                        data: TOTALS.to_h { |key| [key, summary.public_send(key)] }.merge(generations: generations))
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
          "#{Units.count(summary.shapes)} shapes, #{Units.bytes(summary.shape_bytes)}" if summary.shapes.positive?
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
          Listing.new(key: :roots, title: "Roots", rows: rows, total: rows.size, columns: ROOT_COLUMNS,
                      sorted: :references, name: "root", data: ->((name, _)) { { root: name } },
                      label: ->((name, _)) { Label.new(text: [name, Objects::ROOTS[name]].compact.join("  ")) })
        end

        def duplicates(dump)
          rows = dump.duplicate_strings(limit: @top)
          Listing.new(key: :duplicate_strings, title: "Strings with the same value", rows: rows, name: "value",
                      columns: DUPLICATE_COLUMNS, sorted: :wasted_bytes,
                      label: ->(row) { Label.new(text: words(row)) },
                      data: ->(row) { { value: @values ? row.value : nil, bytesize: row.bytesize } })
        end

        def words(row)
          value = @values ? @objects.quoted(row.value, cut: row.cut?) : "hidden"
          "#{value}  #{@objects.count(row.bytesize, "bytes")}"
        end
      end
    end
  end
end
