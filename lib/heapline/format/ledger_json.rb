# frozen_string_literal: true

require_relative "inert"
require_relative "json_object"

module Heapline
  module Format
    # A ledger as one JSON object; docs/cli.md describes each key.
    class LedgerJson
      include JsonObject

      SCHEMA_VERSION = 1

      # Write the object and a line end to `io`.
      def render(snapshot, ledger, io)
        data = { schema_version: SCHEMA_VERSION, pid: snapshot.pid, allocator: text(snapshot.allocator),
                 rss_bytes: ledger.rss_bytes, lines: ledger.lines.map { |line| line(line) },
                 returnable_bytes: ledger.returnable_bytes&.minmax, figures: figures(ledger.figures) }
        write(data, io)
      end

      private

      def line(line)
        { key: text(line.key), name: text(line.name), bytes: line.bytes, parts: line.parts.map { |part| line(part) } }
      end

      def figures(figures)
        figures.to_h.merge(arenas: figures.arenas.map(&:to_h)).transform_values do |value|
          value.is_a?(Time) ? time(value) : value
        end
      end

      def text(value)
        value && Inert.valid(value.to_s)
      end
    end
  end
end
