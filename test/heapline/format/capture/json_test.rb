# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/json"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class JsonTest < Minitest::Test
        def test_keys
          summary = Model::Capture::Summary.new(command: ["ruby", "\xff"], pid: 5, seconds: 2.0, ending: "exit 0",
                                                started_at: Time.at(0), options: ["native"], chosen: ["tag \xff"])
          statement = Heap::Statement.new(key: :totals, data: { events: 3 })
          sheet = Heap::Sheet.new(kind: "report", dumps: [Heap::Dump.new(name: "a.hlc", summary: summary)],
                                  parts: [statement], problems: ["lost"])
          assert_equal({ schema_version: 1, kind: "report",
                         captures: [{ role: nil, file: "a.hlc", pid: 5, command: ["ruby", "\\xFF"], ruby: nil,
                                      allocator: nil,
                                      started_at: "1970-01-01T00:00:00.000000Z", options: ["native"],
                                      chosen: ["tag \\xFF"], seconds: 2.0, ending: "exit 0" }],
                         complete: false, problems: ["lost"], totals: { events: 3 } }, Json.new.to_h(sheet))
        end
      end
    end
  end
end
