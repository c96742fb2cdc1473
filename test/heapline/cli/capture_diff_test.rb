# frozen_string_literal: true

require "test_helper"
require "json"
require "heapline/cli"
require "support/captures"

module Heapline
  module CLI
    class CaptureDiffTest < Minitest::Test
      # [exit status, standard output, standard error]; the second argument is called with the paths of two captures
      def diff(*options, totals: { "time_ns" => 0, "lost" => 0, "ending" => "exit 0" })
        Captures.file(Captures.random(1, 300).to_s(totals: totals)) do |before|
          Captures.file(Captures.random(1, 600).to_s) do |after|
            out = StringIO.new
            err = StringIO.new
            words = block_given? ? yield(before, after) : [before, after]
            status = CLI.start(["diff", *words, *options], env: { "COLUMNS" => "120" }, out: out, err: err)
            return [status, out.string, err.string]
          end
        end
      end

      def test_by_line_and_by_stack
        status, out, err = diff
        assert_equal [0, ""], [status, err]
        ["by line", "by stack", "before", "rack-3.0/lib/f0.rb"].each { |words| assert_includes out, words }
      end

      def test_growth_adds_up
        oracles = [300, 600].map { |count| Captures::Oracle.new(Captures.random(1, count).events).sums }
        { "peak" => 3, "count" => 0, "live" => 5 }.each do |metric, place|
          _, out, = diff("--json", "--by", "gem", "--metric", metric)
          document = JSON.parse(out)
          %w[groups stacks].each do |part|
            assert_equal(oracles.last[place] - oracles.first[place], document[part].sum { |row| row["growth"] })
          end
          assert_equal %w[before after], (document["captures"].map { |capture| capture["role"] })
        end
      end

      def test_what_could_not_be_read
        status, out, = diff(totals: nil)
        assert_equal 1, status
        assert_match(/run.hlc: it was not brought to its end/, out)
      end

      def test_what_does_not_go_together
        { %w[--min 1M] => "two captures have no --min", %w[--format pprof] => "cannot be written as pprof" }
          .each do |options, words|
          status, out, err = diff(*options)
          assert_equal [2, ""], [status, out]
          assert_includes err, words
        end
        assert_includes diff("--by", "class").last, "no Ruby objects in the capture"
        assert_includes diff { |before, _| [before, "1"] }.last, "a capture is compared with one other"
        assert_includes diff { |before, after| [before, after, after] }.last, "a capture is compared with one other"
      end

      def test_counts_have_no_metric
        err = StringIO.new
        assert_equal 2, CLI.start(%w[diff 1 2 --metric peak], out: StringIO.new, err: err)
        assert_includes err.string, "--metric is for captures"
      end

      def test_into_a_file
        Dir.mktmpdir("heapline-test") do |dir|
          path = File.join(dir, "out.csv")
          assert_equal 0, diff("-o", path).first
          assert_match(/\Aline,label,growth,before,after\r\n/, File.read(path))
        end
      end
    end
  end
end
