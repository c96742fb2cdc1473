# frozen_string_literal: true

require "test_helper"
require "support/replays"

class AdviceTest < Minitest::Test
  include Replays

  def test_less_memory
    advice = replay_comparison.advice
    assert_equal [:memory, "jemalloc 5.3.0 MALLOC_CONF=a:1,b:2"], [advice.reason, advice.variant.name]
    assert_in_delta(-0.2, advice.peak.median, 0.001)
    assert_in_delta(-0.4, advice.final.median, 0.001)
    assert_in_delta 0.1, advice.time.median, 0.001
    assert_in_delta 0.05 / 12.5, advice.time_of_program, 0.0001
  end

  # Of those with as little memory the fastest, though another one has the least.
  def test_the_fastest_of_the_small
    advice = advise("a" => { peak: 100 }, "b" => { peak: 79.5, seconds: 0.9 }, "c" => { peak: 80, seconds: 0.2 })
    assert_equal [:memory, "c"], [advice.reason, advice.variant.name]
  end

  def test_the_least_where_it_is_far_ahead
    advice = advise("a" => { peak: 100 }, "b" => { peak: 60, seconds: 0.9 }, "c" => { peak: 80, seconds: 0.2 })
    assert_equal [:memory, "b"], [advice.reason, advice.variant.name]
  end

  def test_faster_where_memory_is_the_same
    advice = advise("a" => {}, "b" => { peak: 99.5, seconds: 0.3 }, "c" => { peak: 100, seconds: 0.2 })
    assert_equal [:time, "c"], [advice.reason, advice.variant.name]
  end

  # But it is told.
  def test_faster_but_larger_is_no_reason
    advice = advise("a" => {}, "b" => { peak: 109, seconds: 0.1 }, "c" => { peak: 120, seconds: 0.2 })
    assert_equal [:none, "b"], [advice.reason, advice.faster.name]
  end

  def test_what_is_faster_than_the_small
    advice = advise("a" => {}, "b" => { peak: 60, seconds: 0.9 }, "c" => { peak: 80, seconds: 0.2 })
    assert_equal %w[b c], [advice.variant.name, advice.faster.name]
    assert_nil advise("a" => { seconds: 0.85 }, "b" => { peak: 60, seconds: 0.9 }).faster
  end

  # As fast as far as the noise tells: the one with less memory.
  def test_what_is_faster_with_least_memory
    spread = [0.18, 0.19, 0.2, 0.21, 0.22]
    fast = spread.map { |seconds| { peak: 90, seconds: seconds } }
    small = spread.rotate.map { |seconds| { peak: 70, seconds: seconds + 0.001 } }
    advice = advice_of({ "a" => [{ peak: 100 }] * 5, "b" => [{ peak: 60 }] * 5, "fast" => fast, "small" => small })
    assert_equal %w[b small], [advice.variant.name, advice.faster.name]
  end

  # What differs in time by less than the rounds do.
  def test_those_that_are_alike
    quick = Array.new(5) { |i| { peak: 80, seconds: 0.5 + (i * 0.01) } }
    late = quick.rotate(2).map { |run| { peak: 80.5, seconds: run[:seconds] + 0.001 } }
    slow = quick.map { |run| { peak: 80, seconds: run[:seconds] + 0.1 } }
    advice = advice_of({ "a" => [{ peak: 100 }] * 5, "quick" => quick, "late" => late, "slow" => slow })
    assert_equal ["quick", ["late"]], [advice.variant.name, advice.alike.map(&:name)]
    assert_empty replay_comparison.advice.alike
  end

  # A tenth less, but one round says the opposite: no difference beyond the noise.
  def test_noise_is_no_difference
    noisy = [90, 91, 104, 89, 90].map { |peak| { peak: peak } }
    assert_equal :none, advice_of({ "a" => [{ peak: 100 }] * 5, "b" => noisy }).reason
    assert_equal "a", advice_of({ "a" => [{ peak: 100 }] * 5, "b" => noisy }).variant.name
  end

  def test_small_differences_are_none
    advice = advise("a" => {}, "b" => { peak: 98, seconds: 0.47 })
    assert_equal :none, advice.reason
  end

  def test_few_rounds_are_not_sure
    assert_equal :unsure, advice_of({ "a" => [{ peak: 100 }] * 4, "b" => [{ peak: 10 }] * 4 }).reason
    assert_equal :unsure, advice_of({ "a" => [{ peak: 100 }], "b" => [{ peak: 10 }] }).reason
    assert_equal :unsure, advice_of({ "a" => [{ peak: 100 }] * 5 }).reason
  end

  def test_time_only
    rounds = { "a" => { seconds: 0.5 }, "b" => { peak: 10, seconds: 0.5 }, "c" => { seconds: 0.4 } }
    advice = advice_of(rounds.transform_values { |run| [run] * 5 }, time_only: true)
    assert_equal [:time, "c"], [advice.reason, advice.variant.name]
  end

  def test_a_plan_that_knows_no_time
    comparison = Replays::Model::Comparison.new(plan: replay_plan(recorded_seconds: 0.0),
                                                variants: replay_comparison.variants)
    assert_nil comparison.advice.time_of_program
  end

  private

  # Five rounds that hardly differ.
  def advise(variants)
    advice_of(variants.transform_values do |run|
      Array.new(5) do |i|
        { peak: run.fetch(:peak, 100) + (i * 0.01), seconds: run.fetch(:seconds, 0.5) + (i * 0.0001) }
      end
    end)
  end

  def advice_of(variants, **options)
    list = variants.map { |name, runs| replay_variant(name, runs) }
    Replays::Model::Comparison.new(plan: replay_plan, variants: list, **options).advice
  end
end
