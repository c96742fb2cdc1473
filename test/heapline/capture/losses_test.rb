# frozen_string_literal: true

require "test_helper"
require "heapline/capture/losses"

class CaptureLossesTest < Minitest::Test
  Losses = Heapline::Capture::Losses

  def test_what_was_lost
    assert_equal ["7 events were lost while it was recorded: what is live may be too much"], Losses.words(7)
  end

  def test_nothing_was_lost
    assert_empty Losses.words(0)
  end
end
