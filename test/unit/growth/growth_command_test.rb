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

      # What the log does not tell yet is not called anything, and what is missing is said.
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
