# frozen_string_literal: true

require "test_helper"
require "json"
require "support/cli"
require "support/stack_lines"
require "support/twin_answer"

module Heapline
  module CLI
    class StackTest < Minitest::Test
      include CliHelper
      include TwinAnswer

      def stack(*options)
        out, task = ask_twin("stack", *options, text: STACK_LINES)
        assert_equal 2, task
        out
      end

      def test_text
        assert_match(/^  2 threads  sleep_forever  one, two$/, stack)
      end

      def test_json
        assert_equal 4, JSON.parse(stack("--format", "json"))["stacks"].size
      end

      def test_the_dead
        flight(pid: 4711)
        assert_match(/4711 is dead: it has no threads any more/, heapline("stack", "4711").err)
      end
    end
  end
end
