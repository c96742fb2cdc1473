# frozen_string_literal: true

require "test_helper"
require "json"
require "support/heap_answers"
require "heapline/cli/heap/dominators"

module Heapline
  module CLI
    class Heap
      class DominatorsTest < Minitest::Test
        include HeapAnswers

        def test_the_largest
          assert_match(/^ +2\.98 kB .* 0x20 +Array of 2 elements/, ask("dominators", "a").out)
          assert_equal [{ index: true }], needs
          assert_equal 3, asked("dominators", "a", "--top", "3")["holders"].size
        end

        def test_by_class
          rows = asked("dominators", "a", "--by", "class")["classes"]
          assert_equal ["Array", 2976, 1], rows.first.values_at("class", "retained_bytes", "count")
        end

        def test_under_one
          data = asked("dominators", "a", "--under", "0x21")
          assert_equal ["0x20"], (data["holders"].map { |row| row["address"] })
          assert_equal ["0x31"], (data["held"].map { |row| row["address"] })
          assert_equal [["Hash", 1408]], (data["held_classes"].map { |row| row.values_at("class", "retained_bytes") })
        end

        def test_what_cannot_be_asked
          assert_match(/no root leads to 0x60: it is garbage/, ask("dominators", "a", "--under", "0x60").err)
          assert_match(/not an address: here/, ask("dominators", "a", "--under", "here").err)
          assert_equal 2, ask("dominators", "a", "--under", "0x20", "--by", "class").status
        end

        def test_values_can_be_hidden
          refute_match(/html/, ask("dominators", "a", "--no-values").out)
        end
      end
    end
  end
end
