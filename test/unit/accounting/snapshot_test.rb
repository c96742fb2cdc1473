# frozen_string_literal: true

require "test_helper"
require "support/snapshots"

module Heapline
  module Accounting
    class SnapshotTest < Minitest::Test
      include Snapshots

      def test_is_frozen_and_enumerable
        assert leaky.frozen?
        assert leaky.sites.frozen?
        assert_equal 2, leaky.count
        assert_equal([12, 88], leaky.map { |site| site.location.lineno })
      end

      def test_totals_are_sums
        assert_equal [191_004, 52_220_000, 58_211], [leaky.allocations, leaky.live_bytes, leaky.live_blocks]
        assert_equal leaky.bytes_allocated - leaky.bytes_freed, leaky.live_bytes
      end

      def test_top
        assert_equal([12], leaky.top(1).map { |site| site.location.lineno })
        assert_equal([88, 12], leaky.top(5, by: :temporary).map { |site| site.location.lineno })
      end

      def test_groups
        one = snapshot(site("/g/gems/rack-1.0/a.rb", 1, live_bytes: 5), site("/g/gems/rack-1.0/b.rb", 2, live_bytes: 6),
                       site("app.rb", 3, live_bytes: 7, library: "l.so", tag: "job"))
        assert_equal({ "rack" => 11, nil => 7 }, one.group_by(:gem).transform_values(&:live_bytes))
        assert_equal({ nil => 11, "l.so" => 7 }, one.group_by(:library).transform_values(&:live_bytes))
        assert_equal [nil, "job"], one.group_by(:tag).keys
        assert_equal "app.rb", one.group_by(:file).keys[0]
        assert_equal [1, 2, 3], one.group_by { |site| site.location.lineno }.keys
        assert_raises(ArgumentError) { one.group_by(:size) }
      end

      def test_sums_are_the_groups_in_no_order
        twins = [site("a.rb", 1, live_bytes: 5), site("a.rb", 1, live_bytes: 6, tag: "job"),
                 site("b.rb", 2, live_bytes: 7, label: "b", tag: "job")]
        one = snapshot(*twins)
        assert_equal one.group_by(:tag).values.sort_by(&:live_bytes), one.sums(:tag).sort_by(&:live_bytes)
        assert_equal [["a.rb:1", 11, nil], ["b.rb:2", 7, "job"]],
                     (one.sums(:location).map { |sum| [sum.location.name, sum.live_bytes, sum.tag] })
        assert_raises(ArgumentError) { one.sums(:size) }
      end

      def test_a_location_over_all_libraries_and_tags
        one = snapshot(site("a.rb", 1, frees: 1), site("a.rb", 1, frees: 2, library: "l.so"),
                       site("a.rb", 10, frees: 4))
        assert_equal 3, one["a.rb:1"].frees
        assert_nil one["b.rb:1"]
      end

      def test_differences
        before = snapshot(site("a.rb", 1, live_bytes: 5, allocations: 1),
                          site("gone.rb", 1, live_bytes: 3, allocations: 1),
                          site("same.rb", 1, allocations: 7))
        after = snapshot(site("a.rb", 1, live_bytes: 9, allocations: 3),
                         site("new.rb", 1, live_bytes: 2, allocations: 1),
                         site("same.rb", 1, allocations: 7))
        difference = after - before
        assert_equal({ "a.rb:1" => 4, "new.rb:1" => 2, "gone.rb:1" => -3 },
                     difference.to_h { |site| [site.location.to_s, site.live_bytes] })
        assert_equal [3, 3, 2], [difference.live_bytes, difference.growth_bytes, difference.allocations]
      end

      def test_sites_that_look_the_same_are_one_in_a_difference
        before = snapshot(site("a.rb", 1, allocations: 1), site("a.rb", 1, allocations: 2))
        after = snapshot(site("a.rb", 1, allocations: 1), site("a.rb", 1, allocations: 5))
        assert_equal [3], (after - before).map(&:allocations)
      end

      def test_inspect_is_short
        assert_equal "#<Heapline::Accounting::Snapshot of process 1: 1 sites, 10 bytes live in 2 blocks>",
                     snapshot(site("a.rb", 1, live_bytes: 10, live_blocks: 2)).with(pid: 1).inspect
      end

      def test_duration
        assert_in_delta 12.3, leaky.duration
        assert_in_delta 13.0, leaky.with(ended_at: nil, state: :running).duration
        assert_nil leaky.with(ended_at: nil, state: :killed).duration
      end

      def test_when_most_was_live_and_what_was_temporary
        began = Time.at(100)
        assert_in_delta 5.0, snapshot.with(started_at: began, peak_at: began + 5).peak_after
        assert_equal [0, nil], [snapshot.with(started_at: began, peak_at: began - 1).peak_after,
                                snapshot.with(started_at: began, peak_at: nil).peak_after]
        assert_equal [67, nil], [snapshot(site("a.rb", 1, allocations: 3, temporary: 2)).temporary_percent,
                                 snapshot.temporary_percent]
      end

      def test_unknown_attributes
        assert_raises(ArgumentError) { Snapshot.new(size: 1) }
      end
    end
  end
end
