# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/recording/record_command"

module Heapline
  class Recording
    class RecordCommandTest < Minitest::Test
      include CliHelper

      def assert_usage(message, *words)
        result = heapline("record", *words)
        assert_equal Command::USAGE, result.status
        assert_match message, result.err
      end

      def test_without_a_command
        assert_usage(/which command, or which process/)
      end

      def test_options_of_the_other_kind
        assert_usage(/--follow is for a command/, "--follow", "4711")
        assert_usage(/--timeout is for a PID/, "--timeout", "3", "true")
        assert_usage(/not a time/, "--duration", "soon", "true")
        assert_usage(/give one PID/, "4711", "4712")
      end

      # Behind a PID there is no command whose options they could be.
      def test_options_may_stand_behind_a_pid
        assert_match(/process 4711\b.*no flight file/, heapline("record", "4711", "--duration", "30").err)
      end
    end
  end
end
