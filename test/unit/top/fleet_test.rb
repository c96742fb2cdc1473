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

      # What it says is true until it has had a processor.
      def test_one_that_does_nothing_is_not_read_again
        flight(pid: pid = stopped, start_ticks: Accounting::ProcessIdentity.of(pid).start_ticks, state: 1, ended_ns: 0)
        reads = 0
        read = Accounting::Flight.method(:totals)
        replacing(Accounting::Flight, :totals, ->(path) { (reads += 1) && read.call(path) }) { 3.times { fleet.read } }
        assert_equal [1, pid], [reads, fleet.rows.first.name]
      ensure
        Process.kill(:KILL, pid)
        Process.wait(pid)
      end

      def stopped
        pid = Process.spawn("sleep", "100")
        Process.kill(:STOP, pid)
        await("it is stopped") { Accounting::ProcessIdentity.stat(pid).first == "T" }
        pid
      end

      def test_a_key_that_waits_puts_a_reading_off
        own_flight
        assert_same(fleet, fleet.read { flunk "there is nothing to show yet" })
        rows = fleet.rows
        refute(fleet.read { true })
        assert_equal rows, fleet.rows
      end

      def test_nobody
        assert_empty fleet.read.rows
      end
    end
  end
end
