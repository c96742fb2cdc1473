# frozen_string_literal: true

require "test_helper"
require "json"
require "support/cli"
require "heapline/report/exit_report_command"

module Heapline
  module Report
    class ExitReportCommandTest < Minitest::Test
      include CliHelper

      def report(options = nil)
        File.open(own_flight) do |file|
          heapline("report", "--exit", "--fd", file.fileno.to_s, env: { "HEAPLINE" => options })
        end
      end

      def output(name)
        File.join(@directory, name)
      end

      def test_goes_to_stderr
        result = report
        assert_equal [0, ""], [result.status, result.out]
        assert_match(/RSS .*leak.rb:12.*next  heapline -o run.heapline/m, result.err)
      end

      def test_obeys_heapline
        assert_match(/sites?, 1 shown/, report("top:1").err)
        assert_match(/frees▼/, report("sort:frees").err)
        assert_empty report("quiet").err
        assert_match(/heapline report #{Process.pid} --by gem/, report("keep").err)
      end

      def test_writes_text_and_json
        assert_equal "heapline: wrote #{output("r.txt")}\n", report("output:#{output("r.txt")}").err
        assert_match(/leak.rb:12/, File.read(output("r.txt")))
        report("output:#{output("r.json")},quiet")
        assert_equal 25_600, JSON.parse(File.read(output("r.json")))["totals"]["live_bytes"]
      end

      def test_writes_every_format_by_the_end_of_its_name
        { "r.csv" => "location,", "r.pb.gz" => "\x1f\x8b".b, "r.prom" => "# HELP heapline_", "r.folded" => "rack;",
          "r.speedscope.json" => '{"$schema"' }.each do |name, beginning|
          report("output:#{output(name)},quiet")
          assert File.binread(output(name)).start_with?(beginning), name
        end
      end

      def test_writes_a_flight_file_for_its_owner_alone
        File.write(output("r.heapline"), "x" * 1_000_000)
        assert_match(/see it with: heapline report/, report("output:#{output("r.heapline")}").err)
        assert_equal 0o600, File.stat(output("r.heapline")).mode & 0o777
        assert_equal 25_600, Accounting::Flight.read(output("r.heapline")).live_bytes
      end

      def test_a_file_that_cannot_be_written
        result = report("output:/no/such/place/r.txt")
        assert_equal 3, result.status
        assert_equal "heapline: the output cannot be written to /no/such/place/r.txt: no such directory; " \
                     "the counts are kept: heapline report #{Process.pid}\n", result.err
      end

      def test_needs_a_descriptor
        assert_equal 2, heapline("report", "--exit").status
      end
    end
  end
end
