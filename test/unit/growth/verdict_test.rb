# frozen_string_literal: true

require "test_helper"
require "heapline/growth/life"
require "heapline/growth/verdict"

module Heapline
  module Growth
    # One rule a test. The sum of them over many kinds of sites: test/integration/growth_accuracy_test.rb.
    class VerdictTest < Minitest::Test
      MB = 1_000_000

      # A life of one line each `every` ms; the block gives live bytes, and allocated: bytes a line.
      def life(lines = 30, allocated: 0, generations: 1, share: 0.0, every: 60_000)
        sum = 0.0
        windows = Array.new(lines) do |i|
          sum += allocated.respond_to?(:call) ? allocated.call(i) : allocated
          live = yield(i).to_f
          [i * every.to_f, live, i * every.to_f, live, sum, 1 + (i * generations)]
        end
        Life.new(windows: windows, temporary_share: share)
      end

      def verdict(*lives)
        Verdict.new(lives).name
      end

      # In flight, without chance: some lines are low, most are high.
      def flight(number)
        [0.1, 1, 0.6, 0.3, 0.9, 0.05, 0.7][number % 7] * MB
      end

      def test_leak
        assert_equal :leak, verdict(life { |i| MB + (i * 60_000) })
      end

      def test_a_slow_leak_below_what_is_in_flight
        assert_equal :leak, verdict(life { |i| flight(i) + (i * 60_000) })
      end

      def test_what_is_in_flight_alone
        assert_equal :steady, verdict(life { |i| flight(i) })
      end

      # A stretch in which nothing is allocated has no rate to divide by.
      def test_load_after_rest
        busy = ->(i) { [i - 5, 0].max }
        assert_equal :steady, verdict(life(20, allocated: ->(i) { busy[i] * 1000 * MB }) { |i| (busy[i] + 1) * MB })
      end

      def unsure(needs, *lives)
        found = Verdict.new(lives)
        assert_equal [:unsure, needs], [found.name, found.needs]
      end

      def test_growth_without_a_gc_may_be_garbage
        unsure("3 GCs: 0 so far", life(generations: 0) { |i| MB + (i * 60_000) })
        assert_equal :steady, verdict(life(generations: 0) { MB })
      end

      def test_too_few_lines
        unsure("12 lines: 11 so far", life(11) { |i| i * MB })
        unsure("12 lines: 1 so far", life(1) { MB })
        assert_equal :leak, verdict(life(12) { |i| i * MB })
        assert_nil Verdict.new([life(12) { |i| i * MB }]).needs
      end

      # What a process loads and fills while it starts is no leak yet.
      def test_a_little_growth_in_the_first_minutes
        unsure("3 minutes: 81 s so far", life(28, every: 3000) { |i| MB + (i * 4400) })
        assert_equal :leak, verdict(life(28, every: 3000) { |i| MB + (i * 44_000) })
        assert_equal :leak, verdict(life(28, every: 7000) { |i| MB + (i * 4400) })
      end

      # A level that was left again is neither: nothing of it is there.
      def test_what_did_not_grow_is_no_cache
        assert_equal :steady, verdict(life { |i| i == 29 ? MB : ([i, 14].min * MB) + MB })
        assert_equal :steady, verdict(life { |i| i < 12 || i == 29 ? MB : 30 * MB })
      end

      # What it costs is what goes on: of a cache its level, of a step what is beside it.
      def test_the_slope_is_of_what_goes_on
        steady = Verdict.new([life { |i| flight(i) }])
        assert_equal [:steady, 0.0], [steady.name, steady.trend.slope]
        assert_operator steady.trend.low..steady.trend.high, :cover?, 0.0
        cache = Verdict.new([life { |i| ([i, 14].min * MB) + (i % 2) }])
        assert_equal :cache, cache.name
        assert_in_delta 0, cache.trend.slope * 3_600_000, 1000
        bloat = Verdict.new([life { |i| (i < 12 ? 1 : 30) * MB }])
        assert_equal [:bloat, 0.0], [bloat.name, bloat.trend.slope]
      end

      # In a minute it may be what a process loads, or the beginning of a leak.
      def test_a_rise_of_little
        assert_equal :steady, verdict(life { |i| MB + (i * 100) })
        unsure("3 minutes: 29 s so far", life(every: 1000) { |i| MB + (i * 100) })
      end

      def test_cache
        assert_equal :cache, verdict(life { |i| ([i, 14].min * MB) + (i % 2) })
        assert_equal :cache, verdict(life { |i| 10 * MB * (1 - Math.exp(-i / 3.0)) })
      end

      def test_bloat
        assert_equal :bloat, verdict(life { |i| (i < 12 ? 1 : 30) * MB })
        assert_equal :leak, verdict(life { |i| ((i < 12 ? 1 : 3) * MB) + (i * MB) })
      end

      # Where the halves are of one level each, the medians of many places are alike.
      def test_a_step_is_found_wherever_it_is
        assert_equal [:bloat], (4..26).map { |at| verdict(life { |i| (i < at ? 1 : 30) * MB }) }.uniq
      end

      def test_load
        rising = ->(i) { (10 + i) * MB }
        assert_equal :steady, verdict(life(allocated: rising) { |i| (10 + i) * 10_000 })
        constant = 10 * MB
        assert_equal :leak, verdict(life(allocated: constant) { |i| (10 + i) * 10_000 })
      end

      def test_churn
        assert_equal :churn, verdict(life(allocated: 50 * MB, share: 0.99) { |i| flight(i) })
        assert_equal :steady, verdict(life(allocated: 1000, share: 0.99) { |i| flight(i) })
        assert_equal :steady, verdict(life(allocated: 50 * MB, share: 0.5) { |i| flight(i) })
      end

      def test_falling
        assert_equal :steady, verdict(life { |i| (40 - i) * MB })
      end

      def test_several_lives
        assert_equal :leak, verdict(*Array.new(3) { life(14) { |i| flight(i) + (i * 90_000) } })
      end
    end

    # Beside a fast leak GCs become rarer, so more garbage waits at other lines.
    class VerdictOfGarbageTest < Minitest::Test
      MB = 1_000_000
      EVERY = 5000 # ms
      LINES = 60

      # A site that allocates 1 MB a second. gc_s: seconds between GCs at a part (0..1) of the log. Block: bytes that
      # are kept at that part. age: of what was freed; it waits for so many GCs, and comes and goes.
      def site(gc_s, age: 1.0, lines: LINES, &kept)
        gcs = 1.0
        windows = Array.new(lines) do |i|
          part = i.fdiv(lines - 1)
          gcs += EVERY / 1000.0 / gc_s.call(part)
          live = (MB * gc_s.call(part) * age * [1.0, 0.8, 1.2, 0.9, 1.1][i % 5]) + (kept ? kept.call(part) : 0)
          [i * EVERY.to_f, live, i * EVERY.to_f, live, i * MB * EVERY / 1000.0, gcs.to_i]
        end
        Life.new(windows: windows, temporary_share: age > 1 ? 0.0 : 0.9998, age_mean_generations: age)
      end

      RARER = ->(part) { 0.5 + (3 * part) }
      EVEN = ->(_part) { 1.0 }

      def verdict(*lives)
        Verdict.over(lives).name
      end

      def test_garbage_of_rarer_gcs_is_no_leak
        found = Verdict.new([site(RARER)])
        assert_equal [:churn, 0.0], [found.name, found.trend.slope]
        assert_equal 0.0, found.trend.low, "none of its growth is sure"
        facts = found.facts.to_h { |fact| [fact.name, fact.holds] }
        assert_equal [true, true, true], facts.values_at(:rarer, :waits, :older)
        assert_equal :churn, verdict(*Array.new(2) { site(RARER) })
      end

      # As a program that only churns had it beside a fast leak: seconds between GCs, and the least that was live (MB).
      GCS = [1.34, 1.0, 1.44, 1.48, 1.34, 1.38, 2.56, 1.88, 1.85, 1.66].freeze
      LEAST = [0.0, 0.69, 0.64, 0.84, 0.91, 0.94, 2.01, 1.41, 1.41, 1.20].freeze

      def test_gcs_become_rarer_by_and_by
        stretch = ->(part) { [(part * 10).to_i, 9].min }
        found = site(->(part) { GCS[stretch.call(part)] }) do |part|
          MB * (LEAST[stretch.call(part)] - (0.8 * GCS[stretch.call(part)]))
        end
        assert_equal :churn, verdict(found)
      end

      # What a full cache evicts waits through more GCs.
      def test_what_a_cache_evicts_waits_too
        assert_equal :steady, verdict(site(RARER, age: 12.0))
      end

      # 1 % of what is allocated is kept: by the end more than waits for a GC.
      def test_a_leak_at_a_line_that_churns
        assert_equal :leak, verdict(site(RARER) { |part| 3 * MB * part })
        assert_equal :leak, verdict(site(EVEN) { |part| 3 * MB * part })
      end

      # Where GCs are not rarer, a leak below what waits is found as before.
      def test_a_slow_leak_where_gcs_are_even
        assert_equal :leak, verdict(site(EVEN) { |part| 0.8 * MB * part })
      end

      def test_a_fast_leak_makes_gcs_rarer_itself
        assert_equal :leak, verdict(site(RARER) { |part| 200 * MB * part })
      end

      def test_a_cache_that_fills_and_a_step
        assert_equal :cache, verdict(site(RARER) { |part| 60 * MB * [2 * part, 1].min })
        assert_equal :bloat, verdict(site(RARER) { |part| part < 0.4 ? 0 : 60 * MB })
      end

      def test_a_sawtooth
        assert_equal :churn, verdict(site(EVEN))
        assert_includes %i[churn steady], verdict(site(->(part) { 0.5 + ((part * 7) % 1) }))
      end

      # A log of an older heapline may not tell the age; then growth is what it was.
      def test_without_ages_nothing_is_known_of_garbage
        life = site(RARER)
        assert_equal :leak, verdict(Life.new(windows: life.windows, temporary_share: life.temporary_share))
      end

      def test_without_gcs_it_is_unsure
        assert_equal :unsure, verdict(site(->(_part) { 1e9 }) { |part| 10 * MB * part })
      end
    end

    class VerdictOverLivesTest < Minitest::Test
      def life(process, slope, lines: 30)
        windows = Array.new(lines) do |i|
          [i * 60_000.0, 1e6 + (slope * i), i * 60_000.0, 1e6 + (slope * i), 0.0, i + 1]
        end
        Life.new(process: process, windows: windows)
      end

      def test_one_worker_of_eight_leaks
        verdict = Verdict.over(Array.new(7) { |i| life(i, 0) } << life(7, 60_000))
        assert_equal :leak, verdict.name
        assert_in_delta 1.0, verdict.trend.slope, 0.001
      end

      def test_none_of_eight_leaks
        verdict = Verdict.over(Array.new(8) { |i| life(i, 0) })
        assert_equal [:steady, 0.0], [verdict.name, verdict.trend.slope]
      end

      def test_all_leak
        verdict = Verdict.over([life(0, 60_000), life(1, 120_000)])
        assert_equal :leak, verdict.name
        assert_in_delta 1.5, verdict.trend.slope, 0.51
      end

      def test_many_questions_must_be_surer
        assert_in_delta 2.576, Verdict.reach(1), 0.001
        assert_in_delta 3.291, Verdict.reach(10), 0.001
      end
    end
  end
end
