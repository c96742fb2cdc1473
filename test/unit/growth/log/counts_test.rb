# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/growth/log/counts"

module Heapline
  module GrowthLog
    class CountsTest < Minitest::Test
      def counts(*rows)
        Counts.new(rows.flatten.pack("q*"))
      end

      def test_a_site_by_its_number
        found = counts([1, 1, 10, 10, 0], [5, 2, 500, 200, 70])
        assert_equal [0, 1], found.numbers.to_a
        assert_equal [500, 300, 70], [found.bytes_allocated(1), found.live_bytes(1), found.base_bytes(1)]
        assert_equal [0, 0, 0], [found.bytes_allocated(9), found.live_bytes(9), found.base_bytes(9)]
        assert_empty Counts::NONE.numbers.to_a
      end

      def test_totals_leave_out_what_is_quiet
        found = counts([1, 0, 10, 0, 0], [0, 0, 0, 0, 0], [9, 9, 900, 9, 9], [4, 1, 40, 10, 0])
        assert_equal({ live_bytes: 40, live_blocks: 4, allocations: 5, frees: 1, bytes_allocated: 50, bytes_freed: 10 },
                     found.totals)
      end

      def test_leaders
        random = Random.new(3)
        rows = Array.new(500) { [1, 0, random.rand(1..10_000), random.rand(5000), random.rand(3000)] }
        before, now = [rows.first(300), rows.map { |row| row.map { |figure| figure * 2 } }].map { |some| counts(*some) }
        figures = { live: ->(n) { now.live_bytes(n) }, growth: ->(n) { now.live_bytes(n) - before.base_bytes(n) },
                    allocated: ->(n) { now.bytes_allocated(n) - before.bytes_allocated(n) } }
        figures.each do |by, figure|
          expected = now.numbers.map(&figure).select(&:positive?).max(20)
          assert_equal expected, now.leading(by, 20, before: before).map(&figure), by
          assert_equal now.numbers.count { |n| figure[n].positive? }, now.leading(by, 1000, before: before).size
        end
        assert_empty now.leading(:live, 0)
        assert_empty Counts::NONE.leading(:live, 5)
        assert_equal before.numbers.sum { |n| before.base_bytes(n) }, before.base_total
        assert_raises(ArgumentError) { now.leading(:calls, 5) }
      end

      # The extension's order of the five numbers is this class's.
      def test_of_a_flight_file
        builder = FlightBuilder.new(baseline: 1, baseline_kind: 1)
        site = builder.ruby_site("a.rb", 1)
        builder.lane(0, baseline: 1)
        builder.base(0, site, allocations: 3, bytes_allocated: 300, frees: 1, bytes_freed: 100)
        builder.count(0, site, allocations: 10, bytes_allocated: 1000, frees: 4, bytes_freed: 400)
        in_directory do |directory|
          found = nil
          raw = Accounting::Flight.choose(builder.write(File.join(directory, "x"))) do |packed|
            found = Counts.new(packed)
            [site, site + 1, 99_999]
          end
          assert_equal [1000, 600, 200, 10, 4],
                       [found.bytes_allocated(site), found.live_bytes(site), found.base_bytes(site),
                        found.totals[:allocations], found.totals[:frees]]
          one = raw[:sites].fetch(site)
          assert_equal [[site], "a.rb:1", :ruby], [raw[:sites].keys, one.location.to_s, one.kind]
          assert_raises(TypeError) { Accounting::Flight.choose(File.join(directory, "x")) { 5 } }
        end
      end
    end

    class PastCountsTest < Minitest::Test
      # Of five sites: all that the last one allocated lives.
      def counts(allocated)
        Counts.new(([0] * (Counts::WIDTH * 4)).push(1, 0, allocated, 0, 0).pack("q*"))
      end

      def test_memory_of_the_past_is_bounded
        kept = PastCounts.new
        1000.times { |i| kept.add(i.to_f, i, counts(i)) }
        past = kept.of({ 4 => nil, 99 => nil })
        assert_includes (PastCounts::MOST / 2)..(PastCounts::MOST + 1), past[4].size
        assert_equal past[4].map { |time, *| [time, time, time, time] }, past[4]
        assert_equal [0.0, 999.0], [past[4].first[0], past[4].last[0]]
        assert_equal [0], past[99].flat_map { |_, live, allocated| [live, allocated] }.uniq
        assert_equal [999.0], kept.of({ 4 => 998.0 })[4].map(&:first)
      end

      def test_nothing_is_known_before_the_first_line
        assert_equal({ 4 => [] }, PastCounts.new.of({ 4 => nil }))
      end
    end
  end
end
