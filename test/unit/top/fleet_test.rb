# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/top/fleet"

module Heapline
  module Top
    class FleetTest < Minitest::Test
      include CliHelper

      def fleet
        @fleet ||= Fleet.new(Accounting::FlightDirectory.new("HEAPLINE_DIR" => @directory))
      end

      def test_the_living_only
        own_flight
        flight(pid: 4711)
        File.write(File.join(@directory, "1-1.flight"), "damaged")
        row = fleet.read.rows.first
        assert_equal 1, fleet.rows.size
        assert_equal [Process.pid, 25_600, 25_600, own_command],
                     [row.name, row.live_bytes, row.growth_bytes, row.command.split.first]
        assert_nil row.rate(:live_bytes)
        refute row.stopped
      end

      def test_rates_come_with_the_second_reading
        own_flight
        assert_equal 0.0, fleet.read.read.rows.first.rate(:bytes_allocated)
      end

      def test_a_baseline_for_all
        own_flight
        fleet.read.mark_baseline
        assert_equal 0, fleet.rows.first.growth_bytes
        fleet.mark_baseline(clear: true)
        assert_equal 25_600, fleet.rows.first.growth_bytes
      end

      def test_nobody
        assert_empty fleet.read.rows
      end
    end
  end
end
