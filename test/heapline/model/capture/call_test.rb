# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/call"

module Heapline
  module Model
    module Capture
      class CallTest < Minitest::Test
        def test_a_frozen_value
          call = Call.new(function: "malloc", release: false, calls: 2, bytes: 30)
          assert_equal ["malloc", false, 2, 30], call.to_a
          assert call.frozen?
          assert_equal [false, true], [call, Call.new(function: "mmap")].map(&:mapping?)
        end
      end
    end
  end
end
