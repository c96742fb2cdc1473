# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/moment"

module Heapline
  module Model
    module Capture
      class MomentTest < Minitest::Test
        def test_a_frozen_value
          moment = Moment.new(time: 0.5, seconds: 0.1, live_bytes: 7)
          assert_equal [0.5, 7, nil], [moment.time, moment.live_bytes, moment.rss]
          assert moment.frozen?
        end
      end
    end
  end
end
