# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/processes/baseline_command"

module Heapline
  module Processes
    class BaselineCommandTest < Minitest::Test
      include CliHelper

      REQUEST = FlightBuilder::HEADER[:request].first
      ANSWERED = FlightBuilder::HEADER[:answered].first

      # Answers the request in the file as a process would, once it is there.
      def answer(path)
        Thread.new do
          await("no request came") { File.binread(path, 4, REQUEST).unpack1("L") == 1 }
          File.binwrite(path, [0, 1].pack("LL"), REQUEST)
        end
      end

      def test_waits_for_the_answer
        thread = answer(own_flight)
        result = heapline("baseline", Process.pid.to_s)
        thread.join
        assert_equal 0, result.status, result.err
        assert_match(/baseline 0 of process #{Process.pid}: growth counts from now on/, result.out)
      end

      def test_a_process_that_does_not_allocate
        path = own_flight
        result = heapline("baseline", Process.pid.to_s, "--timeout", "0.4")
        assert_equal 3, result.status
        assert_match(/it answers at its next allocation\n.*has allocated nothing for 0.4 s/, result.err)
        assert_equal 1, File.binread(path, 4, REQUEST).unpack1("L")
      end

      def test_the_dead_and_the_unknown
        flight(pid: 4711)
        assert_match(/process 4711 is dead/, heapline("baseline", "4711").err)
        assert_match(/process 4712\b.*no flight file/, heapline("baseline", "4712").err)
        assert_equal [2, 2], [heapline("baseline"), heapline("baseline", "x")].map(&:status)
      end
    end
  end
end
