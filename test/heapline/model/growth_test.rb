# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/growth_logs"

module Heapline
  module Model
    class GrowthTest < Minitest::Test
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
  end
end
