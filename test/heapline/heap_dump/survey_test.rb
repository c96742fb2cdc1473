# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump/survey"
require "support/heap_rows"

module Heapline
  class HeapDump
    class SurveyTest < Minitest::Test
      include HeapRows

      def test_summary
        summary = Survey.new(HeapRows::Native.new).summary
        assert_equal [4, 1, 5], [summary.objects, summary.free_slots, summary.slots]
        assert_equal [2..5, 3], [summary.generations, summary.traced]
        assert_equal({ "vm" => 7 }, summary.roots)
        assert_equal [["STRING", 3, 300, 120], ["OBJECT", 1, 40, 40]], summary.types.map(&:to_a)
        assert_equal ["interned", "embedded", "shared", "own memory"], summary.strings.map(&:key)
        assert_equal Time.utc(2026, 3, 1, 9), summary.time
      end

      def test_a_time_that_is_none
        native = HeapRows::Native.new
        native.totals[:time] = "yesterday"
        assert_nil Survey.new(native).summary.time
      end
    end
  end
end
