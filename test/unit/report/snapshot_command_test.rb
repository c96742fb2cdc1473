# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/report/snapshot_command"

module Heapline
  module Report
    class SnapshotCommandTest < Minitest::Test
      include CliHelper

      def output(name)
        File.join(@directory, name)
      end

      def test_a_process_that_runs
        own_flight
        result = heapline("snapshot", Process.pid.to_s, "-o", output("s.heapline"))
        assert_equal [0, "", "wrote #{output("s.heapline")}: process #{Process.pid}, 25.60 kB live in 50 blocks\n"],
                     result.to_a.values_at(0, 2, 1)
        assert_equal 0o600, File.stat(output("s.heapline")).mode & 0o777
        assert_match(/ as of \d{4}-.*leak.rb:12/m, heapline("report", output("s.heapline")).out)
      end

      def test_a_process_that_is_dead
        flight(pid: 4711, state: 1, ended_ns: 0)
        heapline("snapshot", "4711", "-o", output("s-%p.heapline"))
        assert_match(/ killed /, heapline("report", output("s-4711.heapline")).out)
      end

      def test_all_that_run
        own_flight
        flight(pid: 4711)
        assert_equal 0, heapline("snapshot", "all", "-o", output("s-%p.heapline")).status
        assert_equal ["s-#{Process.pid}.heapline"], Dir.children(@directory).grep(/heapline\z/)
      end

      def test_what_is_asked_for
        own_flight
        assert_equal([2] * 4, [[], ["1"], ["1", "2", "-o", "x"], ["all", "-o", output("one")]].map do |words|
          heapline("snapshot", *words).status
        end)
        result = heapline("snapshot", "4712", "-o", output("s"))
        assert_equal [3, true], [result.status, result.err.include?("no flight file")]
        assert_match(/cannot be written/, heapline("snapshot", Process.pid.to_s, "-o", "/no/such/s").err)
      end

      def test_no_process_runs
        assert_match(/no process is counted/, heapline("snapshot", "all", "-o", output("%p")).err)
      end
    end
  end
end
