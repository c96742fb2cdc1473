# frozen_string_literal: true

require "test_helper"
require "json"
require "support/cli"
require "support/growth_logs"
require "heapline/report/report_command"

module Heapline
  module Report
    class ReportCommandTest < Minitest::Test
      include CliHelper
      include GrowthLogs

      def output(name)
        File.join(@directory, name)
      end

      def test_a_file
        result = heapline("report", flight(file: File.join(@directory, "x.heapline")))
        assert_equal [0, ""], [result.status, result.err]
        assert_match(%r{25.60 kB .* 100 +50 .*rack-1.0/leak.rb:12  Leak#leak}, result.out)
        assert_match(/RSS no longer known/, result.out)
      end

      def test_a_process_that_lives
        own_flight
        out = heapline("report", Process.pid.to_s).out
        assert_match(/RSS [\d.]+ MB = [a-z, ]+[\d.]+ MB/, out)
        assert_match(/heapline baseline #{Process.pid}/, out)
      end

      def test_of_a_tag_or_of_loading_alone
        source = flight(file: output("x.heapline"))
        assert_match(%r{rack-1.0/leak.rb:12  Leak#leak}, heapline("report", "--tag", "job", source).out)
        result = heapline("report", "--tag", "mail", source)
        assert_equal [3, ""], [result.status, result.out]
        assert_match(/nothing has the tag mail in process \d+: there are .*job.* \(heapline report --by/, result.err)
        assert_match(/no code was loaded/, heapline("report", "--loading", source).out)
        %w[--loading --tag=job].each do |option|
          assert_match(/json has no #{option[/--\w+/]}/, heapline("report", option, "--json", source).err)
        end
      end

      def test_a_process_that_was_killed
        flight(pid: 4711, state: 1, ended_ns: 0)
        assert_match(/killed/, heapline("report", "4711").out)
      end

      def test_a_page_with_growth_from_a_log
        File.write(output("a.jsonl"), leaking_log)
        source = flight(file: output("x.heapline"))
        options = ["--log", output("a.jsonl"), "-o", output("r.html")]
        assert_equal [0, "", ""], heapline("report", *options, source).to_a
        assert_match(/"verdict":"leak"/, File.read(output("r.html")))

        assert_match(/text has no --log/, heapline("report", "--log", output("a.jsonl"), source).err)
        other = flight(pid: 12, file: output("y.heapline"))
        assert_match(/no line of process 12 in /, heapline("report", *options, other).err)
      end

      def test_no_such_process
        result = heapline("report", "4711")
        assert_equal 3, result.status
        assert_match(/process 4711\b.*no flight file in #{@directory}.*`heapline ps`/, result.err)
      end

      def test_a_damaged_file
        path = flight
        File.truncate(path, 5000)
        result = heapline("report", path)
        assert_equal [3, ""], [result.status, result.out]
        assert_match(/\Aheapline: flight file #{path}: it is cut short/, result.err)
      end

      # The first bytes of a file => what is said of it.
      STRANGERS = { "" => "is empty", "some words\n" => "is a text without counts of heapline",
                    %({"type":"ROOT", "root":"vm"}\n) => "is a heap dump: heapline heap histo PATH",
                    "\x7FELF#{"\0" * 12}\x04\0" => "is a core file: heapline core PATH",
                    "\x7FELF#{"\0" * 12}\x03\0" => "is a program or library" }.freeze

      def test_a_file_without_counts_says_what_it_is
        path = File.join(@directory, "file")
        STRANGERS.each do |bytes, words|
          File.binwrite(path, bytes)
          [["report", path], ["diff", path, flight]].each do |asked|
            assert_equal [3, "", "heapline: #{path} #{words.sub("PATH", path)}\n"], heapline(*asked).to_a
          end
        end
      end

      def test_groups
        assert_match(/ rack\n  1 group by gem/, heapline("report", flight, "--by", "gem").out)
        assert_match(/ job\n/, heapline("report", flight, "--by", "tag").out)
        assert_equal 2, heapline("report", flight, "--by", "colour").status
      end

      def test_json
        data = JSON.parse(heapline("report", "--json", "--sort", "live", flight).out)
        assert_equal [25_600, 50], data["totals"].values_at("live_bytes", "live_blocks")
        data = JSON.parse(heapline("report", "--json", "--by", "gem", flight).out)
        assert_equal "rack", data["groups"][0]["gem"]
      end

      def test_formats
        assert_match(%r{\Arack;/g/gems/rack-1.0/leak.rb;Leak#leak leak.rb:12 25600$},
                     heapline("report", "--format", "collapsed", flight).out)
        assert_equal "\x1f\x8b".b, heapline("report", "--format", "pprof", flight).out.b[0, 2]
        assert_match(/growth_bytes.*\r\nrack,/, heapline("report", "--format", "csv", "--by", "gem", flight).out)
        result = heapline("report", "--format", "pprof", "--by", "gem", flight)
        assert_equal [2, "", true], [result.status, result.out, result.err.include?("pprof has no --by")]
        assert_equal 2, heapline("report", "--format", "yaml", flight).status
      end

      def test_into_a_file_whose_name_says_the_format
        assert_equal [0, "", ""], heapline("report", "-o", output("r.csv"), flight).to_a
        assert_match(/\Alocation,path,.*\r\n.*leak.rb:12,/, File.read(output("r.csv")))
        heapline("report", "-o", output("r.txt"), flight)
        assert_match(/RSS no longer known.*leak.rb:12/m, File.read(output("r.txt")))
        heapline("report", "-o", output("r.txt"), "--format", "collapsed", flight)
        assert_match(/\Arack;/, File.read(output("r.txt")))
      end

      def test_a_flight_file_is_snapshots_affair
        result = heapline("report", "-o", output("r.heapline"), flight)
        assert_equal 2, result.status
        assert_match(/heapline snapshot PID -o /, result.err)
      end

      def test_merge_leaves_out_what_cannot_be_read_and_says_so
        flight(pid: 4711)
        flight(pid: 4712, forked_from: 4711, forked_from_ticks: 1)
        flight(pid: 4714, forked_from: 4711, forked_from_ticks: 2) # of another process, which had that pid
        File.truncate(flight(pid: 4713, forked_from: 4711, forked_from_ticks: 1), 100)
        result = heapline("report", "4711", "--merge", "--json")
        assert_equal 51_200, JSON.parse(result.out)["totals"]["live_bytes"]
        assert_match(/left out: .*4713.*cut short/, result.err)
      end

      def test_what_is_to_be_reported
        assert_equal [2, 2, 2],
                     [heapline("report"), heapline("report", "1", "2"),
                      heapline("report", "1", "--top", "x")].map(&:status)
      end
    end
  end
end
