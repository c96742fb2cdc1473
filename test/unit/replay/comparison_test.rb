# frozen_string_literal: true

require "test_helper"
require "support/replays"

class ReplayComparisonTest < Minitest::Test
  include Replays

  def test_the_first_is_what_others_are_compared_with
    comparison = replay_comparison(missing: ["tcmalloc"])
    assert_equal ["glibc 2.36", 5, ["tcmalloc"]], [comparison.baseline.name, comparison.rounds, comparison.missing]
    assert_equal :memory, comparison.advice.reason
    assert_predicate comparison, :frozen?
  end
end

class ReplayModelTest < Minitest::Test
  def test_all_of_it_is_there
    names = %i[Advice Comparison Estimate Plan Run Variant]
    assert_equal names, Heapline::Replay.constants.sort & names
  end
end
