# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/summary"

module Heapline
  module Model
    module Capture
      class SummaryTest < Minitest::Test
        def test_the_rate_of_what_took_time
          assert_equal 5.0, Summary.new(events: 10, seconds: 2.0).rate
          assert_nil Summary.new(events: 10, seconds: 0.0).rate
        end
      end
    end
  end
end
