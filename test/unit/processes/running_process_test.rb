# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/processes/running_process"

module Heapline
  module Processes
    class RunningProcessTest < Minitest::Test
      include CliHelper

      def find(*words)
        RunningProcess.find(words, environment, dead: "it has no RSS")
      end

      def test_a_process_that_runs
        own_flight
        assert_equal Process.pid, find(Process.pid.to_s).pid
      end

      def test_the_dead_and_the_unknown
        flight(pid: 4711)
        dead = assert_raises(FlightError) { find("4711") }
        assert_equal "process 4711 is dead: it has no RSS; what it held last: heapline report 4711", dead.message
        assert_match(/4712\b.*no flight file/, assert_raises(FlightError) { find("4712") }.message)
      end

      # Whose core has looked for one.
      def test_a_process_without_ruby
        own_flight(ruby: "", allocator: "glibc 2.41")
        error = assert_raises(Error) { RunningProcess.find([Process.pid.to_s], environment, dead: "", ruby: true) }
        assert_match(/\Ano Ruby runs in process #{Process.pid}, /, error.message)
        own_flight(ruby: "", allocator: "")
        assert_equal Process.pid, RunningProcess.find([Process.pid.to_s], environment, dead: "", ruby: true).pid
      end

      def test_what_is_no_pid
        [[], ["x"], %w[1 2], ["1.5"]].each { |words| assert_raises(UsageError) { find(*words) } }
      end

      def test_the_option_says_how_long_each_command_waits
        { "trim" => "10", "baseline" => "10", "stack" => "10", "rss" => "1" }.each do |command, seconds|
          assert_match(/--timeout S +wait S seconds for its answer \(#{seconds}\)/, heapline("help", command).out)
        end
      end
    end
  end
end
