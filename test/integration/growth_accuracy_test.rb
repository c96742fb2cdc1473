# frozen_string_literal: true

require "test_helper"
require "support/growth_accuracy"

module Heapline
  # The bounds that docs/accuracy.md speaks of, on a set that is the same in every run.
  class GrowthAccuracyTest < Minitest::Test
    def test_within_30_lines
      result = GrowthAccuracy.measure(seeds: [11, 12], processes: 30, lines: 30)
      assert_operator result.recall, :>=, 0.95, result.by_kind.inspect
      assert_operator result.false_share, :<=, 0.02, result.by_kind.inspect
      assert_operator result.precision, :>=, 0.98, result.by_kind.inspect
    end

    def test_at_every_rate
      result = GrowthAccuracy.measure(seeds: [13], processes: 60, lines: 30, kinds: GrowthSimulator::LEAKS)
      assert_equal 3, result.by_rate.size
      result.by_rate.each { |rate, recall| assert_operator recall, :>=, 0.95, rate }
    end

    def test_the_other_verdicts
      result = GrowthAccuracy.measure(seeds: [14], processes: 30, lines: 30)
      { one_off_import: :bloat, churn: :churn, lru_cache: :cache, load_wave: :steady }.each do |kind, verdict|
        assert_equal verdict, result.by_kind[kind].max_by(&:last).first, kind
      end
    end

    # Garbage that waits for a GC is no leak. What is kept of it is one when it is more than what waits, which half of
    # those that are planted are by then.
    def test_while_gcs_become_rarer
      result = GrowthAccuracy.measure(seeds: [16], processes: 60, lines: 30, rarer: true,
                                      kinds: GrowthSimulator::GARBAGE.keys)
      assert_operator result.false_share, :<=, 0.02, result.by_kind.inspect
      assert_operator result.recall, :>=, 0.5, result.by_kind.inspect
    end

    def test_longer_logs
      result = GrowthAccuracy.measure(seeds: [15], processes: 10, lines: 300)
      assert_operator result.recall, :>=, 0.95
      assert_operator result.false_share, :<=, 0.02
    end
  end
end
