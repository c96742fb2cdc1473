# frozen_string_literal: true

require "test_helper"
require "json"
require "support/cli"
require "support/growth_logs"
require "heapline/report/diff_command"

module Heapline
  module Report
    class DiffCommandTest < Minitest::Test
      include CliHelper
      include GrowthLogs

      def output(name)
        File.join(@directory, name)
      end

      # A flight file of one process in which leak.rb holds so many bytes.
      def leaking(name, bytes)
        builder = FlightBuilder.new
        site = builder.ruby_site("/g/gems/rack-1.0/leak.rb", 12, label: "Leak#leak")
        builder.count(0, site, allocations: 100, bytes_allocated: bytes)
        builder.write(output(name))
      end

      def sources
        [leaking("a", 1000), leaking("b", 5000)]
      end

      def test_two_snapshots
        result = heapline("diff", *sources)
        assert_equal [0, ""], [result.status, result.err]
        assert_match(%r{growth▼.*\n +4.00 kB +1.00 kB +5.00 kB .*rack-1.0/leak.rb:12  Leak#leak$}, result.out)
      end

      def test_a_process_and_a_report_in_json
        own_flight
        File.write(output("r.json"), heapline("report", "--json", Process.pid.to_s).out)
        assert_match(/nothing differs/, heapline("diff", output("r.json"), Process.pid.to_s).out)
      end

      def logs
        File.write(output("a.jsonl"), log_text(*Array.new(20) { |i| log_line(i, { "/app/base.rb:2" => 5000 }) }))
        File.write(output("b.jsonl"), leaking_log(minutes: 20, pid: 4712))
        [output("a.jsonl"), output("b.jsonl")]
      end

      def test_of_two_logs_how_fast_lines_grow
        assert_match(%r{faster +\+6.00 MB +0 B +\+6.00 MB +- to leak .*  /app/leak.rb:1  A#a$},
                     heapline("diff", *logs).out)
        found = JSON.parse(heapline("diff", "--json", "--by", "gem", *logs).out)
        assert_equal(["(application)"], found["changes"].map { |change| change["location"] })
        assert_equal([2, 2], [%w[--sort before], %w[--min 1]].map { |asked| heapline("diff", *asked, *logs).status })
      end

      def test_of_two_logs_the_bytes_in_formats_of_bytes
        assert_match(/leak.rb:1 2900000$/, heapline("diff", "--format", "collapsed", *logs).out)
      end

      # What a growth log does not have is not made up.
      def test_a_log_and_a_snapshot
        words = [sources.first, logs.last]
        assert_match(%r{2.90 MB +0 B +2.90 MB +- +- +-  /app/leak.rb:1  A#a$}, heapline("diff", *words).out)
        found = JSON.parse(heapline("diff", "--json", *words).out)
        assert_equal([[nil, nil, nil]] * 3, figures(found["sites"], "growth_blocks"))
        assert_equal([[100, 100, 1000], [nil, nil, nil]], figures(found.values_at("before", "after"), "live_blocks"))
        result = heapline("diff", "--sort", "blocks", *words)
        assert_equal [2, "heapline: a growth log has neither blocks nor calls: no --sort blocks"],
                     [result.status, result.err[/.*(?= \()/]]
      end

      def figures(found, blocks)
        found.map { |one| one.values_at(blocks, "allocations", "bytes_allocated") }
      end

      def test_a_log_that_holds_the_same_bytes_as_a_snapshot
        builder = FlightBuilder.new
        builder.count(0, builder.ruby_site("/app/base.rb", 2, label: "A#a"), allocations: 9, bytes_allocated: 5000)
        assert_match(/nothing differs/, heapline("diff", builder.write(output("c")), logs.first).out)
      end

      def test_formats
        sites = JSON.parse(heapline("diff", "--json", *sources).out)["sites"]
        assert_equal([4000], sites.map { |site| site["growth_bytes"] })
        assert_match(/^rack;.* 4000$/, heapline("diff", "--format", "collapsed", *sources).out)
        assert_match(/^rack,/, heapline("diff", "--format", "csv", "--by", "gem", *sources).out)
        assert_equal 0, heapline("diff", "-o", output("d.pb.gz"), *sources).status
        assert_equal "\x1f\x8b".b, File.binread(output("d.pb.gz"), 2)
      end

      def test_what_is_asked_for
        wrong = [[], ["1"], %w[1 2 3], ["--format", "prometheus", *sources], ["-o", output("d.html"), *sources],
                 ["--format", "csv", "--sort", "before", *sources], ["--sort", "life", *sources]]
        assert_equal([2] * wrong.size, wrong.map { |words| heapline("diff", *words).status })
      end

      def test_files_that_are_none
        File.write(output("x"), "{}")
        assert_match(/x is no report/, heapline("diff", output("x"), sources.last).err)
        assert_match(/cannot be opened/, heapline("diff", output("none"), sources.last).err)
      end
    end
  end
end
