# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../table/json_object"
require_relative "../leaks/json"

module Heapline
  module Testing
    # What the tests of a suite did to memory, as one JSON object; docs/cli.md describes each key.
    class SuiteJson
      include Table::JsonObject

      SCHEMA_VERSION = 2
      TEXTS = %i[name file grows].freeze

      # tests: Array of TestMemory. Write the object and a line end to `io`.
      def render(tests, io)
        data = { schema_version: SCHEMA_VERSION, tests: tests.map { |test| row(test) } }
        write(data, io)
      end

      private

      def row(test)
        texts = TEXTS.to_h { |key| [key, test[key] && Inert.valid(test[key])] }
        lines = test.lines.map do |location, bytes, blocks|
          { location: Inert.valid(location), retained_bytes: bytes, retained_blocks: blocks }
        end
        losses = test.losses.map { |record| Leaks::Json.new.record(record) }
        lost = { lost_bytes: test.lost_bytes, lost_blocks: test.lost_blocks, losses: losses }
        { **test.to_h.except(:generations), **texts, lines: lines, **lost }
      end
    end
  end
end
