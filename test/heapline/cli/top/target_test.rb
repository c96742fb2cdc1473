# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/top"
require "heapline/cli/top/target"

module Heapline
  module CLI
    class TargetTest < Minitest::Test
      include CliHelper

      def find(wanted)
        @err = StringIO.new
        Top::Target.find(Model::FlightDirectory.new("HEAPLINE_DIR" => @directory), wanted, @err, environment)
      end

      # Living processes of this test with the commands given; forked: of the one before.
      def processes(*commands, forked: false)
        reader, writer = IO.pipe
        ready, said = IO.pipe
        pids = commands.map { |command| fork { live(command, said, reader, writer) } }
        ready.read(commands.size)
        pids.zip([0, *pids], commands) do |pid, before, command|
          flight(pid: pid, start_ticks: Model::ProcessIdentity.of(pid).start_ticks, state: 1, ended_ns: 0,
                 command: [command], forked_from: forked ? before : 0)
        end
        yield pids
      ensure
        [reader, writer, ready, said].each(&:close)
        pids.each { |pid| Process.kill(:KILL, pid) && Process.wait(pid) }
      end

      # A running fork is known by what it calls itself.
      def live(command, said, reader, writer)
        Process.setproctitle(command)
        said.write(".")
        writer.close || reader.read || exit!
      end

      def test_by_pid
        own_flight
        assert_equal Process.pid, find(Process.pid.to_s).pid
        assert_match(/process 1 has no flight file/, assert_raises(FlightError) { find("1") }.message)
        flight(pid: 4711)
        assert_match(/4711 is dead.*heapline report 4711/, assert_raises(FlightError) { find("4711") }.message)
      end

      def test_by_a_part_of_the_command
        processes("puma 6.4", "sidekiq") do |pids|
          assert_equal pids[0], find("Puma").pid
          assert_equal pids[1], find("kiq").pid
          assert_match(/no running process with "rake"/, assert_raises(FlightError) { find("rake") }.message)
        end
      end

      def test_workers_stand_behind_their_master
        processes("puma 6.4", "puma: worker 0", "puma: worker 1", forked: true) do |pids|
          assert_equal pids.first, find("puma").pid
          assert_equal pids.last, find("worker 1").pid
        end
      end

      def test_several_are_listed
        processes("puma one", "puma two") do |pids|
          error = assert_raises(UsageError) { find("puma") }
          assert_match(/2 processes have "puma" in their command: give one PID/, error.message)
          pids.each { |pid| assert_match(/^ *#{pid} +running/, @err.string) }
        end
      end

      def test_unreadable_files_are_no_target
        ticks = Model::ProcessIdentity.of(Process.pid).start_ticks
        File.write(File.join(@directory, "#{Process.pid}-#{ticks}.flight"), "damaged")
        assert_raises(FlightError) { find("ruby") }
      end
    end
  end
end
