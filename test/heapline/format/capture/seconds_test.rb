# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/seconds"

module Heapline
  module Format
    module Capture
      class SecondsTest < Minitest::Test
        def test_to_the_millisecond
          column = Seconds.new(key: :time, title: "from", figure: :itself)
          assert_equal ["0.000 s", "12.346 s", "-"], ([0, 12.34567, nil].map { |seconds| column.text(seconds) })
        end
      end
    end
  end
end
