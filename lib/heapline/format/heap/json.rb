# frozen_string_literal: true

require_relative "../inert"
require_relative "../json_object"
require_relative "sheet"

module Heapline
  module Format
    module Heap
      # A Sheet as one JSON object, ASCII only; docs/heap-dumps.md describes each key.
      class Json
        include JsonObject

        SCHEMA_VERSION = 1

        # Write the object and a line end to `io`.
        def render(sheet, io)
          write(to_h(sheet), io)
        end

        # The object as a Hash.
        def to_h(sheet)
          { schema_version: SCHEMA_VERSION, kind: sheet.kind, dumps: sheet.dumps.map { |dump| dump(dump) },
            complete: sheet.problems.empty?, problems: sheet.problems.map { |problem| Inert.valid(problem) },
            **sheet.parts.to_h { |part| [part.key, valid(part.is_a?(Listing) ? rows(part) : part.data)] } }
        end

        private

        def dump(dump)
          summary = dump.summary
          { role: dump.role, file: Inert.valid(dump.name), pid: summary.pid, ruby: valid(summary.ruby),
            at: time(summary.time), objects: summary.objects,
            bytes: summary.bytes, slot_bytes: summary.slot_bytes }
        end

        def rows(listing)
          listing.rows.map { |row| listing.data.call(row).merge(figures(listing, row)) }
        end

        # Shares are not among them: who reads this can divide.
        def figures(listing, row)
          columns = listing.columns.reject { |column| column.unit == :share }
          columns.to_h { |column| [column.key, column.value(row)] }
        end

        # Text as valid UTF-8, however deep it lies.
        def valid(value)
          case value
          when String then Inert.valid(value)
          when Hash then value.transform_values { |each| valid(each) }
          when Array then value.map { |each| valid(each) }
          else value
          end
        end
      end
    end
  end
end
