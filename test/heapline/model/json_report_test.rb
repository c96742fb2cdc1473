# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/snapshots"
require "heapline/format/json"
require "heapline/model/json_report"

module Heapline
  module Model
    class JsonReportTest < Minitest::Test
      include Snapshots

      def written(snapshot, **options)
        StringIO.new.tap { |io| Format::Json.new(**options).render(snapshot, io) }.string
      end

      def native
        place = Location.new(library: "libz.so.1", offset: 0x1f30, symbol: "deflate", label: "deflate+0x12")
        Site.new(location: place, kind: :native, **Site::ZERO, live_bytes: 3, growth_bytes: 3, retained_bytes: 3)
      end

      def other
        Site.new(location: Location.new(special: "(other)"), kind: :special, **Site::ZERO, allocations: 1)
      end

      def test_what_was_written_comes_back
        original = snapshot(*leaky.sites, native, other)
        read = JsonReport.parse(written(original), "r.json")
        assert_equal original.sites, read.sites
        assert_equal [4711, %w[ruby leak.rb], :exited], [read.pid, read.command, read.state]
        assert_equal [original.started_at, original.ended_at.floor(6)], [read.started_at, read.ended_at]
      end

      def test_what_is_no_report
        { "[]" => /x is no report/, "{}" => /x is no report/, "{" => /x is damaged/,
          written(leaky, by: :gem) => /without --by/,
          '{"schema_version":1,"sites":[{}],"process":{}}' => /x is damaged/,
          '{"schema_version":1,"sites":[]}' => /x is damaged/ }.each do |text, message|
          assert_match message, assert_raises(Error) { JsonReport.parse(text, "x") }.message
        end
      end
    end
  end
end
