# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/growth_logs"
require "heapline/report/source"

module Heapline
  module Report
    class SourceTest < Minitest::Test
      include CliHelper
      include GrowthLogs

      def directory
        Accounting::FlightDirectory.new(environment)
      end

      def test_a_pid_and_a_file
        file = flight(pid: 4711)
        assert_equal [file, "4711.heapline"], [Source.path("4711", directory), Source.path("4711.heapline", directory)]
        assert_equal 25_600, Source.read("4711", directory).live_bytes
        refute GC.disable, "the garbage collector is on again"
      ensure
        GC.enable
      end

      def test_a_directory_is_one_of_logs_where_there_is_a_log_in_it
        File.write(File.join(@directory, "other.log"), "no line of ours\n")
        Dir.mkdir(File.join(@directory, "x.log"))
        refute Source.log?(@directory)
        result = heapline("report", @directory)
        assert_equal [3, "heapline: #{@directory} is a directory\n"], [result.status, result.err]
        File.write(File.join(@directory, "shop.jsonl"), leaking_log)
        assert Source.log?(@directory)
        assert_match(/is a growth log: heapline growth/, heapline("report", @directory).err)
      end

      def test_a_report_that_is_too_large
        path = File.join(@directory, "r.json")
        File.write(path, "{")
        File.truncate(path, Input::MOST + 1)
        result = heapline("report", path)
        assert_equal 3, result.status
        assert_equal "heapline: #{path} is larger than 256 MB, the most that heapline reads of a report in JSON; " \
                     "heapline snapshot keeps counts in a smaller file\n", result.err
      end

      def test_a_pid_without_a_file
        error = assert_raises(FlightError) { Source.read("4712", directory) }
        assert_match(/process 4712\b.*no flight file in #{@directory}/, error.message)
      end
    end
  end
end
