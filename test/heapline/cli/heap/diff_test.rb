# frozen_string_literal: true

require "test_helper"
require "json"
require "support/heap_answers"
require "heapline/cli/heap/diff"

module Heapline
  module CLI
    class Heap
      class DiffTest < Minitest::Test
        include HeapAnswers

        # The kinds that were compared, and how many dumps.
        def compared(*words)
          asked = []
          compare = lambda do |*dumps, options|
            asked << [options[:by], dumps.size]
            last = dumps[2]&.summary
            Model::Heap::Comparison.new(by: options[:by], before: dumps[0].summary, after: dumps[1].summary, last: last,
                                        same_process: true, changes: [], problems: [])
          end
          replacing(HeapDump, :compare, compare) { @result = ask("diff", *words) }
          asked
        end

        def test_two_and_three_by_class_and_by_line
          assert_equal [[:class, 2], [:line, 2]], compared("a", "b")
          assert_equal [[:class, 3], [:line, 3]], compared("a", "b", "c")
          assert_match(/before  a .*\n.*after   b .*\n.*last    c /, @result.out)
          assert_equal [{ index: :objects }] * 3, needs
        end

        def test_by_one
          assert_equal [[:gem, 2]], compared("a", "b", "--by", "gem")
        end

        def test_how_many
          [%w[a], %w[], %w[a b c d]].each do |words|
            assert_empty compared(*words)
            assert_match(/two dumps, or three/, @result.err)
          end
        end

        def test_sorted_by_what_is_not_there
          compared("a", "b", "--sort", "kept")
          assert_equal 2, @result.status
          assert_match(/no --sort kept of these: growth, objects, born, gone, before, after/, @result.err)
        end
      end
    end
  end
end
