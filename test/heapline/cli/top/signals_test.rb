# frozen_string_literal: true

require "test_helper"
require "heapline/cli/top"
require "heapline/cli/top/signals"

module Heapline
  module CLI
    class SignalsTest < Minitest::Test
      def test_they_are_noted_and_wake
        signals = Top::Signals.new
        signals.catch do
          assert_empty signals.take
          Process.kill(:WINCH, Process.pid)
          Process.kill(:TERM, Process.pid)
          seen = []
          await { (seen += signals.take).size == 2 }
          assert_equal %w[TERM WINCH], seen.sort
        end
      end

      def test_waking
        signals = Top::Signals.new
        signals.catch do
          Process.kill(:CONT, Process.pid)
          assert signals.wake.wait_readable(PATIENCE)
          assert_equal ["CONT"], signals.take
          refute signals.wake.wait_readable(0)
        end
      end

      def test_what_there_was_before_is_put_back
        seen = 0
        former = Signal.trap("WINCH") { seen += 1 }
        Top::Signals.new.catch { nil }
        Process.kill(:WINCH, Process.pid)
        await { seen == 1 }
      ensure
        Signal.trap("WINCH", former || "DEFAULT")
      end
    end
  end
end
