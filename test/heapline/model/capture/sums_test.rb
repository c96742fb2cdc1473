# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/sums"

module Heapline
  module Model
    module Capture
      class SumsTest < Minitest::Test
        def test_adds_and_subtracts
          sums = Sums.of((1..10).to_a)
          assert_equal (2..20).step(2).to_a, (sums + sums).to_a
          assert_equal [0] * 10, (sums - sums).to_a
          assert_equal [1, 2, 4], [sums.allocations, sums.bytes, sums.peak_bytes]
        end
      end
    end
  end
end
