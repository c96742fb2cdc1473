# frozen_string_literal: true

require "test_helper"
require "heapline/testing/growth_rule"

class GrowthRuleTest < Minitest::Test
  LEAK = (0..20).to_a

  def test_the_floor_is_what_was_never_given_back
    assert_equal [0, 1, 1, 4, 4], Heapline::Testing::GrowthRule.floor([0, 9, 1, 5, 4])
  end

  def test_one_more_at_each_point_grows
    rule = rule(LEAK)
    assert_equal [:grows, 20], [rule.verdict, rule.rise]
    assert_equal [0.1, 0.1, 0.1], [rule.trend.slope, rule.trend.low, rule.trend.high]
  end

  def test_garbage_that_stays_for_a_while_hides_no_leak
    assert_equal :grows, verdict(LEAK.each_with_index.map { |value, point| value + (point % 3) })
  end

  def test_nothing_a_step_and_a_cache_that_is_full_do_not_grow
    assert_equal :not, verdict([5] * 21)
    assert_equal :not, verdict(([5] * 8) + ([9] * 13))
    assert_equal :not, verdict((0..8).to_a + ([8] * 12))
    assert_equal :not, verdict(LEAK.reverse)
  end

  def test_what_goes_up_and_down_does_not_grow
    assert_equal :not, verdict([0, 9, 3, 7, 1, 8, 2, 9, 4, 8, 3, 9, 2, 7, 5, 9, 4, 8, 5, 9, 8])
  end

  def test_a_late_step_and_a_cache_that_fills_are_unclear
    assert_equal :unclear, verdict(([5] * 16) + ([9] * 5))
    assert_equal :unclear, verdict(LEAK.map { |point| Math.sqrt(point * 100).round })
  end

  def test_in_the_end_half_of_the_first_rise_is_enough
    slowing = LEAK.map { |point| (20 * (1 - (0.95**point)) * 10).round }
    assert_equal %i[unclear grows], [verdict(slowing), verdict(slowing, final: true)]
    filling = LEAK.map { |point| (20 * (1 - (0.85**point)) * 10).round }
    assert_equal :unclear, verdict(filling, final: true)
  end

  private

  def rule(values, **options)
    Heapline::Testing::GrowthRule.new(values.each_with_index.map { |value, point| [point * 10, value] }, **options)
  end

  def verdict(values, **options)
    rule(values, **options).verdict
  end
end
