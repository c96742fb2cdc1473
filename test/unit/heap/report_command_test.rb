# frozen_string_literal: true

require "test_helper"
require "support/heap_answers"
require "heapline/heap/report_command"

module Heapline
  module Heap
    class ReportCommandTest < Minitest::Test
      include HeapAnswers

      def test_a_page
        result = ask("report", "app.heap", "-o", output("heap.html"))
        assert_equal [0, "", ""], [result.status, result.out, result.err]
        assert_match(/<title>app.heap · heap dump · heapline/, File.read(output("heap.html")))
        assert_equal [{ index: true, strings: true }], needs
      end

      def test_to_a_pipe
        assert_match(/\A<!DOCTYPE html>/, ask("report", "a").out)
      end

      def test_not_to_a_terminal
        out = StringIO.new
        out.define_singleton_method(:tty?) { true }
        err = StringIO.new
        assert_equal 2, CLI.start(%w[heap report a], out: out, err: err)
        assert_match(/-o heap.html/, err.string)
      end

      def test_problems
        result = ask("report", "a", "-o", output("heap.html"), problems: ["line 9: not JSON"])
        assert_equal [1, "heapline: line 9: not JSON\n"], [result.status, result.err]
        assert_match(/line 9: not JSON/, File.read(output("heap.html")))
      end

      def test_values_can_be_hidden
        refute_match(/hello/, ask("report", "a", "--no-values").out)
      end
    end
  end
end
