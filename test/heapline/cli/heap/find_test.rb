# frozen_string_literal: true

require "test_helper"
require "json"
require "support/heap_answers"
require "heapline/cli/heap/find"

module Heapline
  module CLI
    class Heap
      class FindTest < Minitest::Test
        include HeapAnswers

        def test_an_object
          assert_match(/\$sessions → Array\[0\] → #<Session> @cache → Hash/, ask("find", "a", "0x31", "--path").out)
          assert_equal [{ index: true }], needs
          assert_equal "0x31", asked("find", "a", "0x31")["object"]["address"]
        end

        def test_a_class
          assert_match(/2 instances of Session/, ask("find", "a", "Session").out)
          assert_equal ["$sessions → Array[…] → #<Session>"],
                       (asked("find", "a", "Session", "--path")["paths"].map { |row| row["path"] })
        end

        def test_what_is_not_there
          assert_match(/no object at 0x999 in a$/, ask("find", "a", "0x999").err)
          assert_match(/no instance of sess in a; did you mean Session\?/, ask("find", "a", "sess").err)
          assert_match(/no instance of \\x1Bzzz in a; heapline heap histo lists/, ask("find", "a", "\ezzz").err)
        end

        def test_what_is_asked
          assert_match(/what in which dump\?/, ask("find", "a").err)
          assert_match(/one dump at a time/, ask("find", "a", "b", "0x31").err)
        end

        def test_options
          refute_match(/html/, ask("find", "a", "0x81", "--no-values", "--path").out)
          assert_equal 1, asked("find", "a", "0x31", "--top", "1")["references"].size
        end
      end
    end
  end
end
