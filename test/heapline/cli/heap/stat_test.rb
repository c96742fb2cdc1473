# frozen_string_literal: true

require "test_helper"
require "json"
require "support/heap_answers"
require "heapline/cli/heap/stat"

module Heapline
  module CLI
    class Heap
      class StatTest < Minitest::Test
        include HeapAnswers

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
end
