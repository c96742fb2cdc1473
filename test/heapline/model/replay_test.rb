# frozen_string_literal: true

require "test_helper"
require "heapline/model/replay"

class ReplayModelTest < Minitest::Test
  def test_all_of_it_is_there
    names = %i[Advice Comparison Estimate Plan Run Variant]
    assert_equal names, Heapline::Model::Replay.constants.sort & names
  end
end
