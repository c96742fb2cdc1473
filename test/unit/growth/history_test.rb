# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/growth_logs"

module Heapline
  module Growth
    class HistoryTest < Minitest::Test
      include GrowthLogs

      def find(growth, location)
        growth.series.find { |series| series.location == location }
      end

      def test_a_leak_comes_first
        growth = growth_of(leaking_log)
        leak, base = growth.series
        assert_equal ["/app/leak.rb:1", :leak, 1], [leak.location, leak.verdict, leak.processes]
        assert_in_delta 6_000_000, leak.slope_bytes_per_hour, 1
        assert_operator leak.slope_low, :<=, leak.slope_bytes_per_hour
        assert_equal [3_900_000, 2_900_000], [leak.live_bytes, leak.growth_bytes]
        assert_equal ["/app/base.rb:2", :steady, 0.0], [base.location, base.verdict, base.slope_bytes_per_hour]
        assert_equal [leak], growth.with_verdict(:leak)
      end

      # Logs of real processes, of which only the lines of the program itself were left in. Row by location, without
      # directories: [verdict, what it needs, bytes an hour].
      def recorded(name)
        log = GrowthReader.new([File.expand_path("../../fixtures/growth/#{name}.jsonl.gz", __dir__)]).read
        log.series.to_h do |one|
          [one.location[%r{[^/]+\z}], [one.verdict, one.needs, one.slope_bytes_per_hour.round]]
        end
      end

      # redcarpet 3.3.2 loses memory at each rendering: 28,677 in 35 s, and 348, after which no more grew than programs
      # load while they start.
      def test_redcarpet
        assert_equal [:leak, nil], recorded("redcarpet_leak").fetch("redcarpet.rb:7").first(2)
        assert_equal [:unsure, "3 minutes: 36 s so far"],
                     recorded("redcarpet_unsure").fetch("redcarpet_slower.rb:7").first(2)
      end

      # 8,000 strings of 0.5 to 3 kB, filled after 12 of 40 s, and evicted from then on: what it holds goes up and down.
      def test_a_bounded_cache
        assert_equal({ "cache.rb:7" => [:cache, nil, 0], "cache.rb:8" => [:churn, nil, 0] }, recorded("bounded_cache"))
      end

      # For 220 s 1 MB a second is kept at line 2, and GCs become rarer. Line 3 is a full cache of 2,000 strings, line 4
      # allocates 25 MB a second and keeps nothing, nor do line 5, with a string of 1 MB, and 6, with enumerators.
      def test_garbage_beside_a_fast_leak_is_no_leak
        found = recorded("churn_beside_a_leak").transform_values(&:first)
        assert_equal({ "grow2.rb:2" => :leak, "grow2.rb:3" => :steady, "grow2.rb:4" => :churn, "grow2.rb:5" => :churn,
                       "grow2.rb:6" => :churn }, found.slice(*(2..6).map { |line| "grow2.rb:#{line}" }))
      end

      # Sidekiq 7.3.9 for 84 s, with some 200 jobs a second.
      def test_a_sidekiq_worker
        found = recorded("sidekiq")
        assert_operator found.size, :>, 20
        assert_empty(found.select { |_, (verdict, *)| verdict == :leak })
        assert_equal [:cache, nil, 0], found.fetch("worker7.rb:7")
        sure = found.reject { |_, (_, _, slope)| slope.zero? }
        assert_empty sure, "what does not grow has no slope that is chance"
      end

      def test_points_for_a_chart
        points = growth_of(leaking_log).series.first.points
        assert_operator points.size, :<=, 60
        assert_equal [[0.0, 1_000_000], [1740.0, 3_900_000]], points.values_at(0, -1)
      end

      def test_workers_are_added_and_a_restart_is_no_drop
        growth = growth_of(leaking_log(pid: 1) + leaking_log(pid: 2) + leaking_log(pid: 2, host: "web-2"))
        leak = growth.series.first
        assert_equal [3, 3 * 3_900_000, 3 * 2_900_000], [leak.processes, leak.live_bytes, leak.growth_bytes]
        assert_in_delta 6_000_000, leak.slope_bytes_per_hour, 1
      end

      def test_deploys_are_one_and_the_newest_is_shown
        old = (0..14).map { |i| log_line(i, { "/app/releases/20260101120000/a.rb:7" => i * 100_000 }, pid: 1) }
        new = (20..40).map { |i| log_line(i, { "/app/releases/20260202120000/a.rb:7" => i * 100_000 }, pid: 2) }
        growth = growth_of(log_text(*old, *new))
        assert_equal ["/app/releases/20260202120000/a.rb:7"], growth.series.map(&:location)
        assert_equal [2, 4_000_000, :leak], growth.series[0].to_h.values_at(:processes, :live_bytes, :verdict)
        assert_equal [false, true], growth.processes.map(&:here)
      end

      def test_a_process_that_ended_holds_nothing
        ended = leaking_log(pid: 1).sub(/"state":"running"(?!.*"state")/m, '"state":"exited"')
        assert_equal [3_900_000, 2 * 2_900_000],
                     growth_of(ended + leaking_log(pid: 2)).series.first.to_h.values_at(:live_bytes, :growth_bytes)
        assert_equal 3_900_000, growth_of(ended).series.first.live_bytes
      end

      def test_groups
        lines = Array.new(15) do |i|
          log_line(i, [log_site("/g/gems/rack-3.0/a.rb:1", i * 100_000, gem: "rack"),
                       log_site("/g/gems/rack-3.0/a.rb:2", 5, gem: "rack"),
                       log_site("/app/b.rb:1", 7, tag: "job", library: "x.so")])
        end
        found = ->(by) { growth_of(log_text(*lines), by: by).series.to_h { |one| [one.location, one.live_bytes] } }
        assert_equal({ "rack" => 1_400_005, "(application)" => 7 }, found.call(:gem))
        assert_equal({ "/g/gems/rack-3.0/a.rb" => 1_400_005, "/app/b.rb" => 7 }, found.call(:file))
        assert_equal({ "ruby" => 1_400_005, "x.so" => 7 }, found.call(:library))
        assert_equal({ "(no tag)" => 1_400_005, "job" => 7 }, found.call(:tag))
      end

      def test_the_memory_of_the_process
        lines = Array.new(30) do |i|
          log_line(i, { "a.rb:1" => 5 }, rss_bytes: 50_000_000 + (i * 1_000_000),
                                         ledger: { malloc_held: i * 1_000_000 })
        end
        growth = growth_of(log_text(*lines))
        assert_equal %w[rss malloc_live malloc_held].sort, growth.memory.keys.sort
        assert_equal %i[leak steady leak],
                     growth.memory.values_at("rss", "malloc_live", "malloc_held").map(&:verdict)
        assert_equal ["a.rb:1"], growth.series.map(&:location)
      end

      def test_an_empty_log
        growth = growth_of("")
        assert_equal [[], [], nil, nil], [growth.series, growth.processes, growth.duration, growth.first_at]
      end
    end

    class HistoryOrderTest < Minitest::Test
      include GrowthLogs

      def test_the_largest_first
        growth = growth_of(leaking_log)
        assert_equal growth.series, growth.sorted(:slope)
        assert_equal growth.series.map(&:live_bytes).sort.reverse, growth.sorted(:live).map(&:live_bytes)
        assert_raises(KeyError) { growth.sorted(:size) }
      end

      # As the figure that is shown has it, of one process, however many there were.
      def test_what_grows_faster_comes_first
        lines = (0..29).flat_map do |i|
          [log_line(i, { "fast.rb:1" => i * 200_000 }),
           *(1..4).map { |pid| log_line(i, { "a.rb:1" => i * 90_000 }, pid: pid) }]
        end
        assert_equal %w[fast.rb:1 a.rb:1], growth_of(log_text(*lines)).series.map(&:location)
      end
    end

    class HistoryAsSnapshotTest < Minitest::Test
      include GrowthLogs

      def test_the_most_that_was_live_also_of_processes_that_have_ended
        text = leaking_log(minutes: 10) + log_text(log_line(10, { "/app/leak.rb:1" => 10 }, state: "exited"))
        snapshot = growth_of(text).snapshot
        assert_equal 1_900_000, snapshot["/app/leak.rb:1"].live_bytes
        assert_equal [4711, ["puma"], START + 600], [snapshot.pid, snapshot.command, snapshot.taken_at]
      end

      def test_all_kinds_of_sites
        sites = [log_site("a.rb:3", 5, library: "l.so"), log_site("libz.so.1+0x1f30", 6, kind: "native", label: "z+0x1",
                                                                                         library: "libz.so.1"),
                 log_site("(other)", 7, kind: "special", label: nil)]
        found = growth_of(log_text(log_line(0, sites), log_line(1, sites))).snapshot
        assert_equal ["(other)", "a.rb:3 via l.so", "libz.so.1+0x1f30"], found.map { |site| site.location.name }.sort
      end

      def test_several_processes
        text = log_text(log_line(0, { "a.rb:1" => 5 }), log_line(0, { "a.rb:1" => 7 }, pid: 4712))
        snapshot = growth_of(text).snapshot
        assert_equal [nil, ["puma", "and others"], 12], [snapshot.pid, snapshot.command, snapshot.live_bytes]
      end
    end

    class SeriesTest < Minitest::Test
      def test_frozen
        assert_predicate Series.new(location: "a.rb:1"), :frozen?
      end
    end
  end
end
