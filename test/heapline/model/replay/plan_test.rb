# frozen_string_literal: true

require "test_helper"
require "support/replays"

class ReplayPlanTest < Minitest::Test
  include Replays

  def test_it_is_frozen
    assert_predicate replay_plan, :frozen?
    assert_equal 3, replay_plan.threads
  end
end
