# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/next_lines"
require "heapline/format/terminal"

module Heapline
  module Format
    class NextLinesTest < Minitest::Test
      def lines(steps)
        NextLines.of(steps, Terminal.new(StringIO.new, { "LANG" => "C.UTF-8" }))
      end

      def test_commands_in_a_column
        assert_equal ["  next  heapline ps             all of them",
                      "        heapline report \\x1B1   this one"],
                     lines([["heapline ps", "all of them"], ["heapline report \e1", "this one"]])
      end

      def test_nothing
        assert_empty lines([])
      end
    end
  end
end
