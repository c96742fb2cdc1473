# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "json"
require "support/heap_answers"
require "heapline/heap/stat_command"

module Heapline
  module Heap
    class StatCommandTest < Minitest::Test
      include Golden
      include HeapValues
      include HeapAnswers

      def test_all_of_it
        assert_golden("heap/stat", shown(Statistics.new.sheet(shop)))
      end

      def test_values_are_hidden_where_that_is_asked_for
        sheet = Statistics.new(values: false).sheet(shop)
        refute_match(/hello|html/, shown(sheet))
        assert_nil sheet.parts.last.data.call(sheet.parts.last.rows.first)[:value]
      end

      def test_what_a_dump_may_have_besides
        text = shown(Statistics.new.sheet(shop(free_slots: 7, shapes: 9, shape_bytes: 900, traced: 0)))
        assert_match(/7 free slots not traced: no lines, no generations · 9 shapes, 900 B/, text.gsub(/\s+/, " "))
      end

      def test_equal_strings_are_bounded
        assert_equal(1, Statistics.new(top: 1).sheet(shop).parts.last.rows.size)
      end

      def test_totals_and_equal_strings
        assert_match(/Strings with the same value\n.*\n.*\n +40 B +2 +80 B  "hello"  5 bytes\n/, ask("stat", "a").out)
        assert_equal [{ strings: true }], needs
      end

      def test_options
        assert_equal 1, asked("stat", "a", "--top", "1")["duplicate_strings"].size
        refute_match(/hello/, ask("stat", "a", "--no-values").out)
      end
    end
  end
end
