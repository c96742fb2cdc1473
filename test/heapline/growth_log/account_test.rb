# frozen_string_literal: true

require "test_helper"
require "heapline/growth_log/account"

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
        assert_equal [60, 60, nil], [account.growth_bytes(4), account.delta_bytes(4), account.allocated_bytes(4)]
        assert_equal 60, account.totals[:growth_bytes]
      end

      def test_growth_of_a_forked_one_counts_from_the_fork_whatever_baselines_follow
        account = account(forked: true)
        account.look(counts([100, 0, 70]))
        assert_equal [30, 30], [account.growth_bytes(4), account.delta_bytes(4)]
        account.written(1.0)
        account.look(counts([150, 0, 140], [9, 0, 8]))
        assert_equal [80, 50, 9], [account.growth_bytes(4), account.delta_bytes(4), account.growth_bytes(5)]
        assert_equal 89, account.totals[:growth_bytes]
      end

      def test_changes_are_those_since_the_line_that_was_written_last
        account = account()
        account.look(counts([100]))
        account.written(1.0)
        account.look(counts([300, 50]))
        account.look(counts([400, 100]))
        assert_equal [200, 300, 1, 1.0], [account.delta_bytes(4), account.allocated_bytes(4), account.seq,
                                          account.written_at]
      end

      def test_lists_the_leaders_of_each_ranking
        account = account(top: 1, forked: true)
        account.look(counts([0]))
        account.written(1.0)
        # most live, most growth, most allocated, none of it
        first = Counts.new((([[0] * 5] * 4) + [[1, 0, 900, 0, 900], [1, 0, 0, 0, 0]]).flatten.pack("q*"))
        forked = account(top: 1, forked: true)
        forked.look(first)
        forked.written(1.0)
        listed = forked.look(counts([900], [500], [5000, 4990], [3]))
        assert_equal [4, 5, 6], listed.sort
      end

      def test_what_was_listed_stays_and_the_least_leave_at_the_bound
        account = account(top: 1)
        seen = (0...6).map do |leader|
          sites = (0...6).map { |site| site == leader ? [1000 * (leader + 1), 0] : [10 + site, 0] }
          account.look(counts(*sites)).tap { account.written(leader.to_f) }
        end
        assert_equal [[4], [4, 5], [4, 5, 6], [4, 5, 6, 7]], seen.first(4).map(&:sort)
        assert_equal [[5, 6, 7, 8], [6, 7, 8, 9]], seen.last(2).map(&:sort)
      end

      def test_a_site_where_nothing_is_is_not_listed
        assert_empty account.look(counts([0], [0]))
      end
    end
  end
end
