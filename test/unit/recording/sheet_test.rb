# frozen_string_literal: true

require "test_helper"
require "heapline/recording/sheet"
require "heapline/format"
require "heapline/recording/model"

module Heapline
  class Recording
    class SheetTest < Minitest::Test
      def test_by_name
        classes = Sheet::FORMATS.map { |name| Sheet.format(name, env: {}).class }
        assert_equal [Text, Table::SheetJson, Table::SheetCsv], classes
        assert_match(/cannot be written as html/, assert_raises(UsageError) { Sheet.format("html", env: {}) }.message)
      end

      def test_keys_of_json
        summary = Summary.new(command: ["ruby", "\xff"], pid: 5, seconds: 2.0, ending: "exit 0",
                              started_at: Time.at(0), options: ["native"], chosen: ["tag \xff"])
        statement = Table::Statement.new(key: :totals, data: { events: 3 })
        sheet = Sheet.of("report", [["a.hlc", summary]], [statement], ["lost"])
        assert_equal({ schema_version: 3, kind: "report",
                       captures: [{ role: nil, file: "a.hlc", pid: 5, command: ["ruby", "\\xFF"], ruby: nil,
                                    allocator: nil,
                                    started_at: "1970-01-01T00:00:00.000000Z", options: ["native"],
                                    chosen: ["tag \\xFF"], seconds: 2.0, ending: "exit 0" }],
                       complete: false, problems: ["lost"], totals: { events: 3 }, left_out: {} },
                     Sheet.format("json", env: {}).to_h(sheet))
      end
    end
  end
end
