# frozen_string_literal: true

require "test_helper"
require "support/scenes"
require "support/snapshots"
require "heapline/top/activity"

module Heapline
  module Top
    class ActivityTest < Minitest::Test
      include Scenes

      def row(activity, name)
        activity.rows(:location).find { |one| one.name.include?(name) }
      end

      def test_rates_and_growth
        activity = Activity.new(reading(*shop(10), at: 10), earlier: reading(*shop(6), at: 6))
        orders = row(activity, "orders")
        assert_equal [500_000.0, 900_000.0, 45_000_000],
                     [orders.rate(:live_bytes), orders.rate(:bytes_allocated), orders.growth_bytes]
        assert_equal 1.0, orders.mean_age
        assert_nil row(activity, "cache").mean_age
        assert_equal 4.0, activity.seconds
      end

      def test_growth_since_the_watchers_baseline
        activity = Activity.new(reading(*shop(10), at: 10), baseline: reading(*shop(8), at: 8))
        assert_equal 1_000_000, row(activity, "orders").growth_bytes
        assert_equal 0, row(activity, "cache").growth_bytes
        assert_equal 1_000_000, activity.total.growth_bytes
      end

      def test_before_the_second_reading
        activity = Activity.new(reading(*shop(10)))
        assert_nil row(activity, "orders").temporary_share
        assert_nil row(activity, "orders").rate(:live_bytes)
        assert_nil activity.total.rate(:allocations)
      end

      def test_the_total
        total = Activity.new(reading(*shop(10), at: 10), earlier: reading(*shop(0), at: 0)).total
        assert_equal [46_023_700, 500_000.0, 2_900_000.0],
                     [total.live_bytes, total.rate(:live_bytes), total.rate(:bytes_allocated)]
      end

      def test_lifespans_of_merged_processes
        line = site("/app/lib/orders.rb", 41, label: "Receipts#render", frees: 100, allocations: 100,
                                              since_allocations: 100, since_age_sum: 300, since_temporary: 60)
        worker = snapshot(line, pid: 4712, started_at: START)
        merged = row(Activity.new(reading(*shop(10), at: 10, others: [worker])), "orders")
        alone = row(Activity.new(reading(*shop(10), at: 10)), "orders")
        assert_operator merged.mean_age, :>, alone.mean_age
        assert_equal [100, 60], [merged.frees - alone.frees, merged.site.temporary - alone.site.temporary]
      end

      # A worker that ended takes its counts along: that is no change of those that go on.
      def test_processes_that_came_and_went
        line = site("/app/lib/orders.rb", 41, label: "Receipts#render", retained_bytes: 7, since_bytes_allocated: 7,
                                              since_allocations: 1)
        worker = snapshot(line, pid: 4712, started_at: START)
        alone = reading(*shop(0), at: 0)
        together = reading(*shop(0), at: 1, others: [worker])
        assert_equal 7.0, Activity.new(together, earlier: alone).total.rate(:live_bytes)
        assert_equal 0.0, Activity.new(reading(*shop(0), at: 2), earlier: together).total.rate(:live_bytes)
        assert_equal 0.0, Activity.new(reading(*shop(0), at: 2), earlier: together).total.rate(:bytes_allocated)
        gone = Activity.new(reading(*shop(0), at: 2), earlier: together, baseline: together)
        assert_equal [0.0, 0], [row(gone, "orders").rate(:live_bytes), row(gone, "orders").growth_bytes]
        assert_equal 7.0, row(Activity.new(together, earlier: alone), "orders").rate(:live_bytes)
      end
    end

    class RatesTest < Minitest::Test
      include Snapshots

      BEFORE = { live_bytes: 100, bytes_allocated: 1000, allocations: 10, frees: 4, temporary: 4 }.freeze
      AFTER = { live_bytes: 40, bytes_allocated: 3000, allocations: 30, frees: 24, temporary: 9 }.freeze

      def row(before, after, seconds)
        Activity::Row.new("a.rb:1", after, 0, before, seconds, false)
      end

      def line(figures)
        site("a.rb", 1, **figures)
      end

      def rates(row)
        Figures::SiteFigures::RATES.values.map { |column| column.value(row) }
      end

      def test_a_second
        row = row(line(BEFORE), line(AFTER), 2.0)
        assert_equal [-30.0, 1000.0, 10.0, 0.25], [*rates(row), row.temporary_share]
      end

      def test_what_is_new_counts_from_nothing
        assert_equal 3000.0, row(nil, line(AFTER), 1.0).rate(:bytes_allocated)
      end

      def test_whole_snapshots
        assert_equal 1000.0, row(snapshot(line(BEFORE)), snapshot(line(AFTER)), 2.0).rate(:bytes_allocated)
      end

      def test_no_time_and_no_frees
        [nil, 0.0].each { |seconds| assert_equal [nil] * 3, rates(row(nil, line(AFTER), seconds)) }
        assert_nil row(line(BEFORE), line(BEFORE), 1.0).temporary_share
      end
    end
  end
end
