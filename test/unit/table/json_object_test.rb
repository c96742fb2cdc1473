# frozen_string_literal: true

require "stringio"
require "test_helper"
require "heapline/table/json_object"
require "support/heap_values"
require "heapline/heap/find_command"
require "heapline/heap/histo_command"
require "heapline/heap/dominators_command"
require "heapline/heap/stat_command"

module Heapline
  module Table
    class JsonObjectTest < Minitest::Test
      FORMAT = Class.new { include JsonObject }.new

      def test_output_is_ascii_and_ends_its_line
        io = StringIO.new
        FORMAT.send(:write, { name: FORMAT.send(:text, "\xff\u00e9") }, io)
        assert_equal %({\n  "name": "\\\\xFF\\u00e9"\n}\n), io.string
      end

      # There may be a million: none is kept, however deep they lie.
      def test_rows_are_written_as_they_are_made
        io = StringIO.new
        written = []
        rows = [{ a: "x\n\ny" }, {}, []].lazy.map { |row| row.tap { written << io.string.size } }
        FORMAT.send(:write, { none: {}, objects: { totals: { live: 1 }, sites: rows }, groups: [].lazy }, io)
        assert_equal "#{JSON.pretty_generate({ none: {}, objects: { totals: { live: 1 }, sites: rows.to_a },
                                               groups: [] })}\n", io.string
        assert_equal written.first(3).uniq, written.first(3)
      end

      def test_times_are_utc
        assert_equal "2026-03-01T08:00:00.250000Z", FORMAT.send(:time, Time.new(2026, 3, 1, 9, 0, 0.25r, "+01:00"))
      end

      def test_what_is_unknown_stays_so
        assert_equal([nil, nil], %i[text time].map { |name| FORMAT.send(name, nil) })
      end
    end

    class SheetJsonTest < Minitest::Test
      include HeapValues

      def written(sheet)
        io = StringIO.new
        SheetJson.new.render(sheet, io)
        io.string
      end

      def test_a_histogram
        data = JSON.parse(written(Heap::HistogramSheet.new(top: 1).sheet(shop(pid: 7, ruby: "3.1.2",
                                                                              time: Time.at(0)))))
        assert_equal [2, "histo", true, []], data.values_at("schema_version", "kind", "complete", "problems")
        assert_equal [{ "role" => nil, "file" => "app.heap", "pid" => 7, "ruby" => "3.1.2", "objects" => 12,
                        "at" => "1970-01-01T00:00:00.000000Z", "bytes" => 4336, "slot_bytes" => 720 }], data["dumps"]
        assert_equal [{ "class" => "String", "defined_path" => nil, "defined_lineno" => nil, "bytes" => 2600,
                        "count" => 5, "slot_bytes" => 200 }], data["groups"]
      end

      # Tables of a kind are one list, each with what names it and with how many of its rows were left out.
      def test_tables_of_a_kind_and_what_was_left_out
        listings = [1, 2].map do |number|
          Listing.new(key: :frames, list: [:threads, { thread: number }], rows: %w[a b].first(number), total: 2,
                      columns: [], data: ->(row) { { at: row } })
        end
        single = Listing.new(key: :lines, rows: %w[c], total: 5, columns: [], data: ->(row) { { at: row } })
        sheet = Sheet.new(kind: :core, title: "", dumps: [], parts: [single, *listings], problems: [])
        data = JSON.parse(written(sheet))
        assert_equal [[{ "at" => "c" }], { "lines" => 4 }], data.values_at("lines", "left_out")
        assert_equal [{ "thread" => 1, "frames" => [{ "at" => "a" }], "left_out" => { "frames" => 1 } },
                      { "thread" => 2, "frames" => [{ "at" => "a" }, { "at" => "b" }], "left_out" => {} }],
                     data["threads"]
      end

      def test_totals
        data = JSON.parse(written(Heap::Statistics.new.sheet(shop)))
        assert_equal [12, [4, 41]], data["totals"].values_at("objects", "generations")
        assert_equal %w[wasted_bytes count bytes value bytesize].sort, data["duplicate_strings"].first.keys.sort
      end

      def test_ascii_and_valid_whatever_the_names_are
        dump = hostile
        [Heap::HistogramSheet.new, Heap::Statistics.new, Heap::Holders.new].each do |view|
          text = written(view.sheet(dump))
          assert_predicate text, :ascii_only?
          refute JSON.parse(text)["complete"]
        end
        path = JSON.parse(written(Heap::Finding.new(path: true).sheet(dump, dump.object(0x20))))["path"]
        assert_equal HOSTILE, path.last["value"]
      end
    end
  end
end
