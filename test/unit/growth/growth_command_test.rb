# frozen_string_literal: true

require "test_helper"
require "zlib"
require "support/cli"
require "support/growth_logs"
require "heapline/growth/growth_command"

module Heapline
  module Growth
    class GrowthCommandTest < Minitest::Test
      include CliHelper
      include GrowthLogs

      def log(text = leaking_log, name: "a.jsonl")
        File.join(@directory, name).tap { |path| File.binwrite(path, text) }
      end

      def test_text
        result = heapline("growth", log)
        assert_equal [0, ""], [result.status, result.err]
        assert_match(%r{^ +leak +\+6.00 MB .*/app/leak.rb:1}, result.out)
      end

      def test_json_and_options
        data = JSON.parse(heapline("growth", "--json", "--by", "file", "--sort", "live", "--top", "1", "--pid", "4711",
                                   "--since", "2026-03-01T09:10:00Z", log).out)
        assert_equal [["/app/leak.rb"], "file", 20],
                     [data["series"].map { |one| one["location"] }, data["by"], data["lines"]["taken"]]
      end

      # Sites of every verdict that a log of an hour can give.
      def every_verdict
        log_text(*Array.new(60) do |i|
          log_line(i, [log_site("/app/leak.rb:1", 1_000_000 + (i * 100_000)), log_site("/app/base.rb:2", 5000),
                       log_site("/app/cache.rb:3", [i, 25].min * 1_000_000),
                       log_site("/app/bloat.rb:4", (i < 25 ? 1 : 30) * 1_000_000),
                       log_site("/app/churn.rb:5", [1, 10, 6, 3, 9, 5, 7][i % 7] * 100_000, **churning(i))])
        end)
      end

      def churning(minute)
        { temporary_share: 0.95, bytes_allocated: minute * 60_000_000 }
      end

      def why(line, path)
        result = heapline("growth", "--why", line, path)
        assert_equal [0, ""], [result.status, result.err]
        result.out
      end

      def test_why
        path = log(every_verdict)
        { leak: "leak.rb:1", steady: "base.rb:2", cache: "cache.rb:3", bloat: "bloat.rb:4", churn: "churn.rb:5" }
          .each do |verdict, line|
            text = why(line, path)
            assert_match(%r{\A#{verdict}  /app/#{line}  A#a\n}, text)
            assert_match(/^  It becomes .*\n  next  heapline /, text)
          end
        text = why("/app/leak.rb:1", path)
        assert_match(/^  yes  \+6.00 MB an hour  the least growth that is 99 % certain +growth is more/, text)
        assert_match(/^  no +100 %  of the bytes allocated stay +load is a reason only with 20 % or less$/, text)
        assert_match(/^  yes +95 %  of the freed blocks died within a GC +churn has 80 %/, why("churn.rb:5", path))
      end

      # What asks the process would fail.
      def test_why_of_a_process_that_has_ended
        assert_match(/^  next  heapline report 4711 --by class /, why("leak.rb:1", log))
        gone = { host: Etc.uname[:nodename], pid: 4_000_000_000 }
        [{ state: "exited" }, { state: "killed" }, gone].each do |fields|
          text = why("leak.rb:1", log(ended_log(30, **fields)))
          assert_match(/^  next  heapline --objects --blocks COMMAND +it has ended: start it like this/, text)
          assert_match(/^ +heapline report PID --by class .*\n +heapline heap dump PID .*\n.* leaks PID /, text)
          text = why("leak.rb:1", log(ended_log(5, **fields)))
          assert_match(/^  next  heapline --log LOG COMMAND +it has ended: log the next one for longer.*\n\z/, text)
        end
      end

      def ended_log(minutes, state: "running", **fields)
        log_text(*Array.new(minutes) do |i|
          log_line(i, { "/app/leak.rb:1" => 1_000_000 + (i * 100_000) }, **fields,
                   state: i == minutes - 1 ? state : "running")
        end)
      end

      def test_why_of_a_short_log_and_of_no_line
        text = why("leak.rb:1", log(leaking_log(minutes: 5)))
        assert_match(/\Aunsure .*\n.* It needs 12 lines: 5 so far\.\n\n  no   5  lines of one process/, text)
        result = heapline("growth", "--why", "other.rb:1", log)
        assert_equal 3, result.status
        assert_match(/\Aheapline: other.rb:1 is in no line of the log; heapline growth LOG --top 0/, result.err)
        assert_equal 2, heapline("growth", "--why", "leak.rb:1", "--json", log).status
      end

      # What the log is too short to tell is not called anything, and what is missing is said.
      def test_a_log_that_is_too_short
        result = heapline("growth", log(leaking_log(minutes: 5)))
        assert_match(%r{^ +unsure .*/app/leak.rb:1}, result.out)
        assert_match(/2 unsure \(needs 12 lines: 5 so far\) · 2 of 2 shown/, result.out)
        few = Array.new(30) do |i|
          log_line(i, { "/app/leak.rb:1" => 1_000_000 + (i * 100_000) }, generation: 10 + (i / 14))
        end
        series = JSON.parse(heapline("growth", "--json", log(log_text(*few))).out)["series"]
        assert_equal([["unsure", "3 GCs: 2 so far"]], series.map { |one| one.values_at("verdict", "needs") })
        page = File.join(@directory, "growth.html")
        heapline("growth", "--html", page, log(log_text(*few)))
        assert_includes File.read(page), '"verdict":"unsure"'
      end

      def test_html
        page = File.join(@directory, "growth.html")
        assert_equal [0, "", ""], heapline("growth", "--html", page, log).to_a
        assert_match(%r{"location":"/app/leak.rb:1".*"verdict":"leak"}, File.read(page))
        assert_equal 0o600, File.stat(page).mode & 0o777
        other = File.join(@directory, "other.html")
        [["-o", other], ["--format", "html", "--output", other]].each do |words|
          assert_equal [0, "", ""], heapline("growth", *words, log).to_a
          assert_equal File.read(page), File.read(other), words
        end
      end

      def test_since_a_duration
        assert_match(/^heapline growth  11 lines/, heapline("growth", "--since", "10min", log).out)
      end

      def test_what_cannot_be_used
        assert_match(/which logs/, heapline("growth").err)
        assert_equal 2, heapline("growth", "--since", "soon", log).status
        assert_match(/no such file/, heapline("growth", "/none").err)
        assert_match(/HEAPLINE=log:FILE/, heapline("growth", log("hello\n")).err)
        assert_match(/all are damaged/, heapline("growth", log("{\"schema\":\"heapline-growth/1\"")).err)
        assert_match(/left after --since and --pid/, heapline("growth", "--pid", "1", log).err)
      end

      def test_a_file_that_cannot_be_read_whole
        bad = log(Zlib.gzip(leaking_log)[0, 200], name: "b.jsonl.gz")
        result = heapline("growth", log, bad)
        assert_equal 1, result.status
        assert_match(/leak.rb:1/, result.out)
        assert_match(/b.jsonl.gz is cut short: /, result.err)
      end
    end
  end
end
