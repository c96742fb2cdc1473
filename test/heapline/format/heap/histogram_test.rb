# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/format/heap/histogram"

module Heapline
  module Format
    module Heap
      class HistogramTest < Minitest::Test
        include Golden
        include HeapValues

        def rows(**options)
          Histogram.new(**options).sheet(shop).parts.first.rows.map(&:key)
        end

        def test_by_class_and_by_line
          assert_golden("heap/histo", shown(Histogram.new.sheet(shop(problems: ["line 812: not JSON"]))))
          assert_golden("heap/histo_lines", shown(Histogram.new(by: :line, top: 2).sheet(shop)))
        end

        def test_what_is_asked_for
          assert_equal %w[String Class], rows(top: 2)
          assert_equal %w[String Class Hash], rows(min: 300)
          assert_equal "Array", rows(sort: :count).last
          assert_equal 5, rows(top: 0).size
        end

        def test_the_number_of_those_that_are_not_shown
          assert_match(/^  3 more; all: --top 0$/, shown(Histogram.new(top: 2).sheet(shop)))
          refute_match(/more/, shown(Histogram.new(top: 5).sheet(shop)))
        end
      end
    end
  end
end
