# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "heapline/recording/page_stacks"

module Heapline
  class Recording
    class PageStacksTest < Minitest::Test
      MAIN, LOAD, PARSE = %w[main load parse].map { |label| Frame.new(label: label, path: "/a.rb", lineno: 1) }
      NATIVE = Frame.new(label: "xml_new", library: "/lib/libxml2.so.2", offset: 1)

      def stack(*frames, bytes: 8, thread: nil, tag: nil)
        sums = Sums.of([1, bytes] * 4)
        Stack.new(frames: frames, thread: thread, tag: tag, sums: sums)
      end

      # "main load" for the row of each stack.
      def paths(stacks)
        nodes = stacks.nodes
        stacks.rows.map do |row|
          node = stacks.columns[:node][row]
          path = []
          until node.zero?
            path.unshift(stacks.frames[nodes[:frame][node]].name)
            node = nodes[:parent][node]
          end
          path.join(" ")
        end
      end

      def test_paths_share_what_they_have_in_common
        stacks = PageStacks.new([stack(MAIN, LOAD), stack(MAIN, PARSE, bytes: 20), stack(MAIN), stack])
        assert_equal ["main load", "main parse", "main", "(unknown)"], paths(stacks)
        assert_equal 5, stacks.nodes[:parent].size
        stacks.nodes[:parent].each_with_index { |parent, node| assert_operator parent, :<, [node, 1].max }
        assert_empty stacks.notes
      end

      def test_threads_and_tags_have_rows_of_their_own
        stacks = PageStacks.new([stack(MAIN), stack(MAIN, thread: "b"), stack(MAIN, thread: "a", tag: "t"),
                                 stack(MAIN)])
        assert_equal [[nil, "a", "b"], [nil, "t"]], [stacks.threads, stacks.tags]
        assert_equal 3, stacks.rows.uniq.size
        assert_equal stacks.rows.first, stacks.rows.last
        assert_equal([2, 0], stacks.columns.values_at(:thread, :tag).map { |column| column[stacks.rows[1]] })
      end

      def test_small_stacks_tell_what_allocated
        stacks = PageStacks.new([stack(MAIN, LOAD, bytes: 1), stack(MAIN, LOAD, bytes: 90), stack(NATIVE, bytes: 1),
                                 stack(MAIN, PARSE, NATIVE, bytes: 1), stack(bytes: 1)], most: 1)
        assert_equal ["(smaller stacks) load", "main load", "(smaller stacks) xml_new",
                      "(smaller stacks) parse xml_new", "(smaller stacks) (unknown)"], paths(stacks)
        missing = stack(MAIN, Frame.new(label: "(C frames not known)"), NATIVE, bytes: 1)
        assert_equal "(smaller stacks) main xml_new", paths(PageStacks.new([missing, stack(bytes: 90)], most: 1)).first
        assert_match(/\AThe 1 largest of 5 stacks are whole/, stacks.notes.first)
      end

      def test_of_deep_stacks_the_middle_is_left_out
        half = PageStacks::DEEPEST / 2
        path = paths(PageStacks.new([stack(*[LOAD] * half, *[PARSE] * 900, *[MAIN] * half)])).first.split
        assert_equal([half, 0, half], %w[load parse main].map { |name| path.count(name) })
        assert_equal "(frames left out)", path[half, 3].join(" ")
      end

      def test_too_many_threads_are_one
        stacks = PageStacks.new(Array.new(PageStacks::NAMES + 3) { |i| stack(MAIN, thread: "t#{i}", bytes: i + 1) })
        assert_equal PageStacks::NAMES + 1, stacks.threads.size
        assert_equal 3, stacks.rows.tally.values.max
      end

      def test_nothing
        stacks = PageStacks.new([])
        assert_equal [[], [], []], stacks.columns.values
      end
    end
  end
end
