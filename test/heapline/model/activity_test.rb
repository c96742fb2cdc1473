# frozen_string_literal: true

require "test_helper"
require "support/scenes"

module Heapline
  module Model
    class ActivityTest < Minitest::Test
      include Scenes

      def row(activity, name)
        activity.rows(:location).find { |one| one.name.include?(name) }
      end

      def test_rates_and_growth
        activity = Activity.new(reading(*shop(10), at: 10), earlier: reading(*shop(6), at: 6))
        orders = row(activity, "orders")
        assert_equal [500_000.0, 900_000.0, 45_000_000], [orders.live_rate, orders.allocation_rate, orders.growth_bytes]
        assert_equal 1.0, orders.lifespan
        assert_nil row(activity, "cache").lifespan
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
        assert_nil row(activity, "orders").rates
        assert_nil row(activity, "orders").live_rate
        assert_nil activity.total.rates
      end

      def test_the_total
        total = Activity.new(reading(*shop(10), at: 10), earlier: reading(*shop(0), at: 0)).total
        assert_equal [46_023_700, 500_000.0, 2_900_000.0], [total.live_bytes, total.live_rate, total.allocation_rate]
      end

      def test_lifespans_of_merged_processes
        line = site("/app/lib/orders.rb", 41, label: "Receipts#render", frees: 100, allocations: 100,
                                              since_allocations: 100, since_age_sum: 300, since_temporary: 60)
        worker = snapshot(line, pid: 4712, started_at: START)
        merged = row(Activity.new(reading(*shop(10), at: 10, others: [worker])), "orders")
        alone = row(Activity.new(reading(*shop(10), at: 10)), "orders")
        assert_operator merged.lifespan, :>, alone.lifespan
        assert_equal [100, 60], [merged.frees - alone.frees, merged.site.temporary - alone.site.temporary]
      end

      # A worker that ended takes its counts along: that is no change of those that go on.
      def test_processes_that_came_and_went
        line = site("/app/lib/orders.rb", 41, label: "Receipts#render", retained_bytes: 7, since_bytes_allocated: 7,
                                              since_allocations: 1)
        worker = snapshot(line, pid: 4712, started_at: START)
        alone = reading(*shop(0), at: 0)
        together = reading(*shop(0), at: 1, others: [worker])
        assert_equal 7.0, Activity.new(together, earlier: alone).total.live_rate
        assert_equal 0.0, Activity.new(reading(*shop(0), at: 2), earlier: together).total.live_rate
        assert_equal 0.0, Activity.new(reading(*shop(0), at: 2), earlier: together).total.allocation_rate
        gone = Activity.new(reading(*shop(0), at: 2), earlier: together, baseline: together)
        assert_equal [0.0, 0], [row(gone, "orders").live_rate, row(gone, "orders").growth_bytes]
        assert_equal 7.0, row(Activity.new(together, earlier: alone), "orders").live_rate
      end
    end
  end
end
