# frozen_string_literal: true

require "test_helper"
require "heapline/model/stack"

module Heapline
  module Model
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
