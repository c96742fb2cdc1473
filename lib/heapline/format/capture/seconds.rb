# frozen_string_literal: true

require_relative "../columns"

module Heapline
  module Format
    module Capture
      # A column of time, to the millisecond.
      class Seconds < Columns::Column
        def print(seconds)
          format("%.3f s", seconds)
        end
      end
    end
  end
end
