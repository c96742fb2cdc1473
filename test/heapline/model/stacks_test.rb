# frozen_string_literal: true

require "test_helper"
require "support/stack_lines"
require "heapline/model/stacks"

module Heapline
  module Model
    class StacksTest < Minitest::Test
      def test_of_lines
        stacks = Stacks.parse(STACK_LINES)
        assert_equal [4711, "2026-11-21T10:00:00Z", 3, 1],
                     [stacks.pid, stacks.time, stacks.threads.size, stacks.fibers.size]
        assert_equal({ "Array" => 4, "Hash" => 1 }, stacks.threads.first.held)
        assert_equal "app.rb:9:in 'Object#serve'", stacks.threads.first.backtrace.first
        assert_predicate stacks.threads.first, :frozen?
      end

      def test_other_lines
        ["", "{", "[]\n", %({"type":"THREAD"}\n{"type":"THREAD"}\n)].each do |text|
          assert_raises(FlightError) { Stacks.parse(text) }
        end
      end
    end
  end
end
