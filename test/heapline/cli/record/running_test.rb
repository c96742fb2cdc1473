# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/record"
require "heapline/cli/record/running"

module Heapline
  module CLI
    class RecordRunningTest < Minitest::Test
      include CliHelper

      def test_a_process_that_does_not_answer
        own_flight
        result = heapline("record", "--timeout", "0.1", "-o", File.join(@directory, "x.hlc"), Process.pid.to_s)
        assert_equal CLI::PROBLEM, result.status
        assert_match(/has not answered for 0.1 s/, result.err)
        refute_path_exists File.join(@directory, "x.hlc")
      end

      def test_a_dead_process
        flight
        assert_match(/process 4711 is dead: it allocates nothing any more/, heapline("record", "4711").err)
      end

      def test_a_place_that_cannot_be_written
        own_flight
        result = heapline("record", "-o", "/nonexistent/x.hlc", Process.pid.to_s)
        assert_match(%r{cannot be written to /nonexistent: no such directory}, result.err)
      end
    end
  end
end
