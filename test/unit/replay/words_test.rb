# frozen_string_literal: true

require "test_helper"
require "heapline/replay/words"
require "support/replays"

class ReplayWordsTest < Minitest::Test
  include Replays

  Words = Heapline::Replay::Words

  def test_facts
    assert_equal ["run.hlc", "1,000,000 calls", "3 threads", "recorded in 12.5 s",
                  "live 80.00 MB at the peak, 20.00 MB at the end"], Words.new(replay_comparison).facts
    plan = replay_plan(threads: 1, recorded_seconds: 0.0, left_out: 7)
    comparison = Replays::Model::Comparison.new(plan: plan, variants: [replay_variant("x", [{}])])
    assert_equal ["1 thread", "7 frees of older blocks left out"], Words.new(comparison).facts.values_at(2, 4)
  end

  def test_manner
    assert_equal "median of 5 in turn, ± half of its 93 % interval", Words.new(replay_comparison).manner.first
    one = Replays::Model::Comparison.new(plan: replay_plan, variants: [replay_variant("x", [{}])], touching: :none)
    assert_equal ["once: no margin of error", "no block is written to"], Words.new(one).manner
  end

  def test_the_recommendation
    take, why = Words.new(replay_comparison).advice
    assert_equal ["take jemalloc 5.3.0 MALLOC_CONF=a:1,b:2"], take
    assert_equal ["against glibc 2.36", "peak RSS -20 % (-20 to -20)", "at the end -40 % (-40 to -40)",
                  "time in calls +10 % (+9.9 to +10), +0.4 % of the time that the recording took"], why
  end

  def test_what_else_may_be_taken
    small = [{ peak: 50_000_000 }] * 5
    runs = { "a" => [{}] * 5, "b" => small, "c" => small, "d" => [{ peak: 60_000_000, seconds: 0.25 }] * 5 }
    variants = runs.map { |name, list| replay_variant(name, list) }
    comparison = Replays::Model::Comparison.new(plan: replay_plan, variants: variants)
    assert_equal [["as good within the noise: c"],
                  ["faster with more memory: d", "time in calls -50 % (-50 to -50)", "peak RSS +20 % (+20 to +20)"]],
                 Words.new(comparison).advice.drop(2)
  end

  def test_nothing_is_no_less_than_nothing
    assert_equal(["0.0 %", "-0.1 %", "+12 %"], [-0.0002, -0.001, 0.12].map { |part| Words.percent(part) })
  end

  def test_no_recommendation
    same = Replays::Model::Comparison.new(plan: replay_plan, variants: [replay_variant("a", [{}] * 5),
                                                                        replay_variant("b", [{}] * 5)])
    assert_equal [["no difference beyond the noise that is worth a change: stay with a"]], Words.new(same).advice
    alone = Replays::Model::Comparison.new(plan: replay_plan, variants: [replay_variant("a", [{}] * 5)])
    assert_match(/nothing to compare with/, Words.new(alone).advice.join)
    once = Replays::Model::Comparison.new(plan: replay_plan, variants: [replay_variant("a", [{}])] * 2)
    assert_match(/too few rounds/, Words.new(once).advice.join)
  end
end
