# frozen_string_literal: true

require "test_helper"
require "json"
begin
  require "csv"
rescue LoadError
  nil # a gem of its own since Ruby 3.4
end
require "heapline/cli"
require "support/captures"
require "heapline/recording/capture_diff"
require "heapline/recording/model"

module Heapline
  class Recording
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
        assert_match(/run.hlc: it has no end/, out)
      end

      def test_what_does_not_go_together
        { %w[--min 1M] => "two captures have no --min",
          %w[--format pprof] => "two captures cannot be written as pprof: text, json, csv (",
          %w[--format svg] => "two captures cannot be written as svg: text, json, csv (" }
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
          assert_match(/\Atable,line,label,growth,before,after,frames\r\ngroups,/, File.read(path))
        end
      end

      # Both tables as one, whose lines all have its cells; names of frames may hold anything.
      def test_csv
        skip "this Ruby has no csv" unless defined?(::CSV)
        lines = ::CSV.parse(diff("--format", "csv")[1])
        assert_equal [7], lines.map(&:size).uniq
        rows = lines.drop(1).group_by(&:first)
        assert_equal %w[groups stacks], rows.keys
        assert_empty rows["groups"].filter_map(&:last)
        assert_includes rows["stacks"].last.last, ";"
      end
    end

    class ComparisonTest < Minitest::Test
      def change(key, before, after)
        sums = [before, after].map { |bytes| Sums.of([0, 0, 0, bytes, *[0] * 6]) }
        Change.new(key: key, label: "m", before: sums.first, after: sums.last)
      end

      def frames(*names)
        names.map { |name| Frame.new(label: name, path: "/a/x.rb", lineno: 1) }
      end

      def listings(groups, stacks, **options)
        DiffSheet.new(**options).sheet(groups, stacks, %w[a b].map do |name|
          [name, Summary.new(command: [], seconds: 0)]
        end, [])
                                .parts
      end

      def test_what_grew_and_what_shrank_most
        changes = (1..10).map do |n|
          change("g#{n}", 0, n)
        end + [change("s", 9, 0), change("t", 3, 0), change("same", 4, 4)]
        listing = listings(changes, [], top: 4).first
        assert_equal %w[g10 g9 g8 s], listing.rows.map(&:key)
        assert_equal 12, listing.total
        assert_equal [10, -9], (listing.rows.values_at(0, 3).map { |row| listing.columns.first.value(row) })
        assert_equal 12, listings(changes, [], top: 0).first.rows.size
      end

      def test_labels
        lines, stacks = listings([change("a.rb:1", 0, 1)],
                                 [change(frames("main", "a", "b", "c", "d"), 0, 1), change([], 0, 2)])
        assert_equal %w[m a.rb:1], lines.label.call(lines.rows.first).to_a
        assert_equal ["(unknown)", "d x.rb:1 ← c x.rb:1 ← b x.rb:1 ← a x.rb:1 ← …"],
                     (stacks.rows.map { |row| stacks.label.call(row).text })
        assert_equal 5, stacks.data.call(stacks.rows.last)[:frames].size
      end

      def test_by_something_else
        listing = listings([change("rack", 0, 1)], [], by: :gem).first
        assert_equal ["rack", nil], listing.label.call(listing.rows.first).to_a
        assert_equal "rack", listing.data.call(listing.rows.first)[:gem]
      end
    end
  end
end
