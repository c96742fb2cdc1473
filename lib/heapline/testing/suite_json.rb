# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../table/json_object"
require_relative "../leaks/json"

module Heapline
  module Testing
    # What the tests of a suite did to memory, as one JSON object; docs/cli.md describes each key.
    class SuiteJson
      include Table::JsonObject

      SCHEMA_VERSION = 3

      # tests: Array of TestMemory. Write the object and a line end to `io`.
      def render(tests, io)
        data = { schema_version: SCHEMA_VERSION, tests: tests.map { |test| row(test) } }
        write(data, io)
      end

      private

      def row(test)
        name, path, grows = [test.name, test.file, test.grows].map { |text| text && Inert.valid(text) }
        lines = test.lines.map do |location, bytes, blocks|
          { location: Inert.valid(location), retained_bytes: bytes, retained_blocks: blocks }
        end
        losses = test.losses.map { |record| Leaks::Json.new.record(record) }
        lost = { lost_bytes: test.lost_bytes, lost_blocks: test.lost_blocks, losses: losses }
        { name: name, path: path, lineno: test.line, **test.to_h.except(:name, :file, :line, :generations),
          grows: grows, lines: lines, **lost }
      end
    end
  end
end
