# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
%w[finding histogram holders json statistics].each { |name| require "heapline/format/heap/#{name}" }

module Heapline
  module Format
    module Heap
      class JsonTest < Minitest::Test
        include HeapValues

        def written(sheet)
          io = StringIO.new
          Json.new.render(sheet, io)
          io.string
        end

        def test_a_histogram
          data = JSON.parse(written(Histogram.new(top: 1).sheet(shop(pid: 7, ruby: "3.1.2", time: Time.at(0)))))
          assert_equal [1, "histo", true, []], data.values_at("schema_version", "kind", "complete", "problems")
          assert_equal [{ "role" => nil, "file" => "app.heap", "pid" => 7, "ruby" => "3.1.2", "objects" => 12,
                          "at" => "1970-01-01T00:00:00.000000Z", "bytes" => 4336, "slot_bytes" => 720 }], data["dumps"]
          assert_equal [{ "class" => "String", "bytes" => 2600, "count" => 5, "slot_bytes" => 200 }], data["groups"]
        end

        def test_totals
          data = JSON.parse(written(Statistics.new.sheet(shop)))
          assert_equal [12, [4, 41]], data["totals"].values_at("objects", "generations")
          assert_equal %w[wasted_bytes count bytes value bytesize].sort, data["duplicate_strings"].first.keys.sort
        end

        def test_ascii_and_valid_whatever_the_names_are
          dump = hostile
          [Histogram.new, Statistics.new, Holders.new].each do |view|
            text = written(view.sheet(dump))
            assert_predicate text, :ascii_only?
            refute JSON.parse(text)["complete"]
          end
          path = JSON.parse(written(Finding.new(path: true).sheet(dump, dump.object(0x20))))["path"]
          assert_equal HOSTILE, path.last["value"]
        end
      end
    end
  end
end
