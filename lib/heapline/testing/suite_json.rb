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

      # losses: Suite::Losses; nil: lost blocks were not looked for.
      def initialize(losses: nil)
        @losses = losses
      end

      # tests: Array of TestMemory. Write the object and a line end to `io`.
      def render(tests, io)
        data = { schema_version: SCHEMA_VERSION, tests: tests.map { |test| row(test) } }
        data.merge!(outside_tests: lost(@losses.outside.values.flatten), unsearched: @losses.unsearched) if @losses
        write(data, io)
      end

      private

      # records: Array of LossRecord.
      def lost(records)
        { lost_bytes: records.sum(&:bytes), lost_blocks: records.sum(&:blocks),
          losses: records.map { |record| Leaks::Json.new.record(record) } }
      end

      def row(test)
        name, path, grows = [test.name, test.file, test.grows].map { |text| text && Inert.valid(text) }
        lines = test.lines.map do |location, bytes, blocks|
          { location: Inert.valid(location), retained_bytes: bytes, retained_blocks: blocks }
        end
        { name: name, path: path, lineno: test.line, **test.to_h.except(:name, :file, :line, :generations, :repeated),
          grows: grows, lines: lines, **lost(test.losses) }
      end
    end
  end
end
