# frozen_string_literal: true

require "test_helper"
require "heapline/clock"

module Heapline
  class ClockTest < Minitest::Test
    include Clock

    def test_goes_forward_in_seconds
      before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      times = [before, now, Clock.now, Process.clock_gettime(Process::CLOCK_MONOTONIC)]

      assert_equal times.sort, times
    end
  end
end
