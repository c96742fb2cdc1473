# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/json_object"

module Heapline
  module Format
    class JsonObjectTest < Minitest::Test
      FORMAT = Class.new { include JsonObject }.new

      def test_output_is_ascii_and_ends_its_line
        io = StringIO.new
        FORMAT.send(:write, { name: FORMAT.send(:text, "\xff\u00e9") }, io)
        assert_equal %({\n  "name": "\\\\xFF\\u00e9"\n}\n), io.string
      end

      def test_times_are_utc
        assert_equal "2026-03-01T08:00:00.250000Z", FORMAT.send(:time, Time.new(2026, 3, 1, 9, 0, 0.25r, "+01:00"))
      end

      def test_what_is_unknown_stays_so
        assert_equal([nil, nil], %i[text time].map { |name| FORMAT.send(name, nil) })
      end
    end
  end
end
