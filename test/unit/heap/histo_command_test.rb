# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "json"
require "support/heap_answers"
require "heapline/heap/histo_command"

module Heapline
  module Heap
    class HistoCommandTest < Minitest::Test
      include Golden
      include HeapValues
      include HeapAnswers

      def rows(**options)
        HistogramSheet.new(**options).sheet(shop).parts.first.rows.map(&:key)
      end

      def test_by_class_and_by_line
        assert_golden("heap/histo", shown(HistogramSheet.new.sheet(shop(problems: ["line 812: not JSON"]))))
        assert_golden("heap/histo_lines", shown(HistogramSheet.new(by: :line, top: 2).sheet(shop)))
      end

      def test_what_is_asked_for
        assert_equal %w[String Class], rows(top: 2)
        assert_equal %w[String Class Hash], rows(min: 300)
        assert_equal "Array", rows(sort: :count).last
        assert_equal 5, rows(top: 0).size
      end

      def test_the_number_of_those_that_are_not_shown
        assert_match(/^  3 more; all: --top 0$/, shown(HistogramSheet.new(top: 2).sheet(shop)))
        refute_match(/more/, shown(HistogramSheet.new(top: 5).sheet(shop)))
      end

      def test_by_class
        result = ask("histo", "app.heap")
        assert_equal [0, ""], [result.status, result.err]
        assert_match(/^ +2\.60 kB +60\.0 % +5 +200 B  String$/, result.out)
        assert_equal [{}], needs
      end

      def test_options
        assert_equal ["/srv/shop/app/session.rb:14", "(not traced)"],
                     (asked("histo", "a", "--by", "line", "--top", "2")["groups"].map { |row| row["line"] })
        assert_equal 3, asked("histo", "a", "--min", "300")["groups"].size
        assert_equal "Array", asked("histo", "a", "--sort", "count")["groups"].last["class"]
      end

      def test_what_cannot_be_asked
        assert_equal [2, 2, 2], ([%w[--by method], %w[--sort name], %w[--top many]].map do |words|
          ask("histo", "a", *words).status
        end)
      end
    end
  end
end
