# frozen_string_literal: true

require "test_helper"
require "heapline/model/growth/life"
require "heapline/model/growth/verdict"

module Heapline
  module Model
    class Growth
      # One rule a test. The sum of them over many kinds of sites: test/integration/growth_accuracy_test.rb.
      class VerdictTest < Minitest::Test
        MB = 1_000_000

        # A life of one line a minute; the block gives live bytes, and allocated: bytes a line.
        def life(lines = 30, allocated: 0, generations: 1, share: 0.0)
          sum = 0.0
          windows = Array.new(lines) do |i|
            sum += allocated.respond_to?(:call) ? allocated.call(i) : allocated
            live = yield(i).to_f
            [i * 60_000.0, live, i * 60_000.0, live, sum, 1 + (i * generations)]
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

        def test_growth_without_a_gc_may_be_garbage
          assert_equal :steady, verdict(life(generations: 0) { |i| MB + (i * 60_000) })
        end

        def test_too_few_lines
          assert_equal :steady, verdict(life(11) { |i| i * MB })
          assert_equal :leak, verdict(life(12) { |i| i * MB })
        end

        def test_a_rise_of_little
          assert_equal :steady, verdict(life { |i| MB + (i * 100) })
        end

        def test_cache
          assert_equal :cache, verdict(life { |i| ([i, 14].min * MB) + (i % 2) })
          assert_equal :cache, verdict(life { |i| 10 * MB * (1 - Math.exp(-i / 3.0)) })
        end

        def test_bloat
          assert_equal :bloat, verdict(life { |i| (i < 12 ? 1 : 30) * MB })
          assert_equal :leak, verdict(life { |i| ((i < 12 ? 1 : 3) * MB) + (i * MB) })
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
    end
  end
end
