# frozen_string_literal: true

require "test_helper"
require "support/replays"

class ReplayRunTest < Minitest::Test
  include Replays

  def test_what_came_back_and_faults
    run = replay_run(peak: 100, final: 30, minor_faults: 5, major_faults: 1)
    assert_equal [70, 6], [run.returned_bytes, run.faults]
    assert_predicate run, :frozen?
  end
end
