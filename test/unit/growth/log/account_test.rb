# frozen_string_literal: true

require "test_helper"
require "heapline/growth/log/account"
require "json"
require "support/object_snapshots"

module Heapline
  module GrowthLog
    class AccountTest < Minitest::Test
      FIRST = 4 # numbers below are special

      # Counts of sites from number FIRST on, each [allocated, freed, base] in bytes.
      def counts(*sites)
        rows = Array.new(FIRST) { [0] * Counts::WIDTH }
        rows += sites.map { |allocated, freed = 0, base = 0| [1, 0, allocated, freed, base] }
        Counts.new(rows.flatten.pack("q*"))
      end

      def account(top: 2, forked: false)
        Account.new(top: top, forked: forked)
      end

      def test_growth_of_a_process_counts_from_its_start
        account = account()
        account.look(counts([100, 40, 30]))
        assert_equal [60, nil], [account.growth_bytes(4), account.allocated_bytes(4)]
        assert_equal 60, account.totals[:growth_bytes]
      end

      def test_growth_of_a_forked_one_counts_from_the_fork_whatever_baselines_follow
        account = account(forked: true)
        account.look(counts([100, 0, 70]))
        assert_equal 30, account.growth_bytes(4)
        account.written(1.0, 1)
        account.look(counts([150, 0, 140], [9, 0, 8]))
        assert_equal [80, 9], [account.growth_bytes(4), account.growth_bytes(5)]
        assert_equal 89, account.totals[:growth_bytes]
      end

      def test_changes_are_those_since_the_line_that_was_written_last
        account = account()
        account.look(counts([100]))
        account.written(1.0, 1)
        account.look(counts([300, 50]))
        account.look(counts([400, 100]))
        assert_equal [300, 1, 1.0], [account.allocated_bytes(4), account.seq, account.written_at]
      end

      def test_lists_the_leaders_of_each_ranking
        account = account(top: 1, forked: true)
        account.look(counts([0]))
        account.written(1.0, 1)
        # most live, most growth, most allocated, none of it
        first = Counts.new((([[0] * 5] * 4) + [[1, 0, 900, 0, 900], [1, 0, 0, 0, 0]]).flatten.pack("q*"))
        forked = account(top: 1, forked: true)
        forked.look(first)
        forked.written(1.0, 1)
        listed = forked.look(counts([900], [500], [5000, 4990], [3]))
        assert_equal [4, 5, 6], listed.sort
      end

      def test_what_was_listed_stays_and_the_least_leave_at_the_bound
        account = account(top: 1)
        seen = (0...6).map do |leader|
          sites = (0...6).map { |site| site == leader ? [1000 * (leader + 1), 0] : [10 + site, 0] }
          account.look(counts(*sites)).tap { account.written(leader.to_f, 1) }
        end
        assert_equal [[4], [4, 5], [4, 5, 6], [4, 5, 6, 7]], seen.first(4).map(&:sort)
        assert_equal [[5, 6, 7, 8], [6, 7, 8, 9]], seen.last(2).map(&:sort)
      end

      # [time, live bytes, bytes allocated, generation]
      def test_a_site_that_gets_into_the_lines_late_brings_its_past
        account = account(top: 1)
        [[[900, 0], [5, 0]], [[999, 0], [20, 10]], [[999, 0], [2000, 500]]].each_with_index do |sites, i|
          account.look(counts(*sites))
          assert_nil account.earlier(4)
          account.written(i * 10.0, i) if i < 2
        end
        assert_equal [[0.0, 5, 5, 0], [10.0, 10, 20, 1]], account.earlier(5)
      end

      # Up to the line that listed it last it is known. A line that was dropped told nothing.
      def test_a_site_that_comes_back_brings_what_was_since
        account = account(top: 1)
        leaders = [4, 5, 6, 7, 8, 9, 4, 4] # at most four are listed: at the fifth line the first leaves
        leaders.each_with_index do |leader, i|
          account.look(counts(*(4..9).map { |number| number == leader ? [1000 * (i + 1), 0] : [i + number, 0] }))
          account.written(i.to_f, 3) unless i == 6
        end
        assert_equal [[4.0, 8, 8, 3], [5.0, 9, 9, 3]], account.earlier(4)
      end

      def test_a_site_where_nothing_is_is_not_listed
        assert_empty account.look(counts([0], [0]))
      end
    end

    class ObjectAccountTest < Minitest::Test
      include ObjectSnapshots

      # Objects of classes A, B … with so many live ones each.
      def counts(**live)
        objects(*live.map { |name, number| objects_at("a.rb", 1, name.to_s, allocated: number) })
      end

      def listed(account, objects)
        account.line(objects)[:objects].map { |row| row[:class] }
      end

      def test_not_accounted_is_no_key
        assert_equal({}, ObjectAccount.new(top: 2).line(nil))
      end

      def test_each_figure
        site = objects_at("/app/a.rb", 3, "Order", label: "A#a", tag: "job", allocated: 10, freed: 4, age_sum: 6,
                                                   age_max: 3, temporary: 1)
        line = ObjectAccount.new(top: 2).line(objects(site))
        assert_equal({ live: 6, live_slot_bytes: 240, growth: 6, allocated: 10, freed: 4 }, line[:object_totals])
        assert_equal([{ location: "/app/a.rb:3", label: "A#a", gem: nil, tag: "job", class: "Order", type: "T_OBJECT",
                        live: 6, live_slot_bytes: 240, growth: 6, allocated: 10, freed: 4, age_mean_generations: 1.5,
                        age_max_generations: 3, temporary_share: 0.25 }], line[:objects])
      end

      def test_lifespans_are_unknown_before_the_first_is_freed
        row = ObjectAccount.new(top: 2).line(counts(A: 1))[:objects].first
        assert_equal [nil, nil, nil], row.values_at(:age_mean_generations, :age_max_generations, :temporary_share)
      end

      def test_the_first_of_two_rankings
        wide = objects_at("b.rb", 2, "Wide", allocated: 5, slot: 640, growth: -1)
        found = ObjectAccount.new(top: 1).line(objects(*counts(A: 9, B: 8), wide))
        assert_equal(%w[A Wide], found[:objects].map { |row| row[:class] })
      end

      def test_what_was_listed_once_stays
        account = ObjectAccount.new(top: 1)
        assert_equal ["A"], listed(account, counts(A: 9, B: 8))
        assert_equal %w[A B], listed(account, counts(A: 9, B: 10)).sort
      end

      def test_a_line_is_bounded
        account = ObjectAccount.new(top: 2)
        names = ("A".."Z").to_a
        names.each_with_index do |name, index|
          assert_operator listed(account, counts(**names.to_h do |one|
            [one.to_sym, one == name ? 100 + index : 1]
          end)).size,
                          :<=, 8
        end
      end

      def test_hostile_names_are_inert
        text = JSON.generate(ObjectAccount.new(top: 50).line(hostile_objects.objects), ascii_only: true)
        refute_match(/[^ -~]/, text)
      end
    end
  end
end
