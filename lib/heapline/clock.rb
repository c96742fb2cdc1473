# frozen_string_literal: true

module Heapline
  # The clock by which waits and rates are measured: it is not set back or forth with the time of day.
  # @api private
  module Clock
    module_function

    # Seconds (Float) since some moment that stays the same.
    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
