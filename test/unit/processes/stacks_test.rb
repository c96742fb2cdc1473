# frozen_string_literal: true

require "test_helper"
require "support/stack_lines"
require "heapline/processes/stack_command"

module Heapline
  module Processes
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
          error = assert_raises(FlightError) { Stacks.parse(text) }
          assert_equal "what the process's copy wrote is not the backtraces of its threads", error.message
        end
      end
    end

    class StackTest < Minitest::Test
      def stack(label)
        Stack.new(kind: :thread, address: "0x1", label: label, backtrace: [], held: {})
      end

      def test_states_and_names
        { "#<Thread:0x00007f run>" => ["run", nil],
          "#<Thread:0x00007f@poller app.rb:3 sleep_forever>" => %w[sleep_forever poller],
          "#<Thread:0x00007f@two words sleep>" => ["sleep", "two words"],
          "#<Worker:0x00007f app.rb:3 sleep>" => ["sleep", nil],
          "#<Fiber:0x00007f app.rb:3 (suspended)>" => ["suspended", nil],
          "" => [nil, nil] }.each do |label, expected|
          assert_equal expected, [stack(label).state, stack(label).name], label
        end
      end
    end
  end
end
