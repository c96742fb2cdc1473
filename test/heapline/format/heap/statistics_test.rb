# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/format/heap/statistics"

module Heapline
  module Format
    module Heap
      class StatisticsTest < Minitest::Test
        include Golden
        include HeapValues

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
      end
    end
  end
end
