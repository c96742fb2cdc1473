# frozen_string_literal: true

require_relative "../heap/json"

module Heapline
  module Format
    module Capture
      # A Sheet about captures as one JSON object, ASCII only; docs/captures.md describes each key.
      class Json < Heap::Json
        # The object as a Hash.
        def to_h(sheet)
          { schema_version: SCHEMA_VERSION, kind: sheet.kind, captures: sheet.dumps.map { |dump| capture(dump) },
            complete: sheet.problems.empty?, problems: sheet.problems.map { |problem| Inert.valid(problem) },
            **sheet.parts.to_h { |part| [part.key, valid(part.is_a?(Heap::Listing) ? rows(part) : part.data)] } }
        end

        private

        def capture(dump)
          summary = dump.summary
          { role: dump.role, file: Inert.valid(dump.name), pid: summary.pid, command: valid(summary.command),
            ruby: valid(summary.ruby), allocator: valid(summary.allocator), started_at: time(summary.started_at),
            options: valid(summary.options.to_a), chosen: valid(summary.chosen.to_a), seconds: summary.seconds,
            ending: summary.ending }
        end
      end
    end
  end
end
