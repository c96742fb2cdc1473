# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/leaks/leaks_command"

module Heapline
  module Leaks
    class LeaksRunningTest < Minitest::Test
      include CliHelper

      def test_a_process_that_keeps_no_blocks
        own_flight
        result = heapline("leaks", Process.pid.to_s)
        assert_equal Command::FAILED, result.status
        assert_match(/keeps no blocks: start it with `heapline --blocks …`; .*attach --blocks/, result.err)
      end

      def test_a_process_that_does_not_answer
        own_flight(options: "quiet,blocks")
        result = heapline("leaks", "--timeout", "0.1", Process.pid.to_s)
        assert_match(/has not answered for 0.1 s/, result.err)
      end

      def test_a_dead_process
        flight
        assert_match(/process 4711 is dead: its blocks are gone/, heapline("leaks", "4711").err)
      end
    end
  end
end
