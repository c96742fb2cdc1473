# frozen_string_literal: true

require "test_helper"
require "json"
require "support/cli"
require "heapline/processes/ps_command"

module Heapline
  module Processes
    class PsCommandTest < Minitest::Test
      include CliHelper

      def test_the_living_and_the_dead
        own_flight
        flight(pid: 4711, state: 1, ended_ns: 0)
        out = heapline("ps").out
        assert_match(/^ *#{Process.pid} +running .*25.60 kB .* MB  #{own_command} /, out)
        assert_match(/^ *4711 +killed .* -  ruby leak.rb$/, out)
      end

      def test_one_that_runs_and_is_not_counted_any_more
        own_flight(stopped_ns: 1_700_000_000_000_000_000)
        assert_match(/^ *#{Process.pid} +not counted .*25.60 kB .* MB  #{own_command} /, heapline("ps").out)
        process = JSON.parse(heapline("ps", "--json").out)["processes"][0]
        assert_equal ["running", "2023-11-14T22:13:20.000000Z"], process.values_at("state", "stopped_at")
      end

      def test_clean_removes_the_dead_only
        alive = own_flight
        dead = flight(pid: 4711)
        other = File.join(@directory, "notes.txt")
        File.write(other, "x")
        assert_equal "removed 1 flight file of dead processes from #{@directory}\n", heapline("ps", "--clean").out
        assert_equal([true, false, true], [alive, dead, other].map { |path| File.exist?(path) })
      end

      # Of companions of growth logs: what has ended, and is locked by nobody.
      def test_clean_removes_the_marks_of_companions_that_have_ended
        mine = Accounting::ProcessIdentity.of(Process.pid).stem
        ended, locked, alive = ["4711-1", "4711-2-99", mine].map { |stem| File.join(@directory, "#{stem}.companion") }
        [ended, alive].each { |path| File.write(path, "") }
        File.open(locked, "w") do |file|
          file.flock(File::LOCK_EX)
          heapline("ps", "--clean")
        end
        assert_equal([false, true, true], [ended, locked, alive].map { |path| File.exist?(path) })
        heapline("ps")
        assert_equal([alive], Dir["#{@directory}/*.companion"])
      end

      def test_a_directory_that_is_not_absolute_is_said_to_be_ignored
        ignored = { "HEAPLINE_DIR" => "a/b", "XDG_RUNTIME_DIR" => @directory }
        assert_equal "heapline: HEAPLINE_DIR=a/b is not absolute and is ignored: flight files are in " \
                     "#{@directory}/heapline\n", heapline("ps", env: ignored).err
        assert_equal "", heapline("version", env: ignored).err
        refute_match(/HEAPLINE_DIR/, heapline("report", "--exit", env: ignored).err)
      end

      def test_damaged_files_do_not_hide_the_others
        flight(pid: 1)
        File.truncate(flight(pid: 2), 10)
        out = heapline("ps").out
        assert_match(/ruby leak.rb/, out)
        assert_match(/2  unreadable: .*cut short/, out)
      end

      def test_json
        own_flight
        process = JSON.parse(heapline("ps", "--json").out)["processes"][0]
        assert_equal ["running", 25_600], process.values_at("state", "live_bytes")
      end

      def test_takes_no_arguments
        assert_equal 2, heapline("ps", "x").status
      end
    end
  end
end
