# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture"

module Heapline
  module Model
    class CaptureTest < Minitest::Test
      def test_all_values_are_loaded
        values = %i[Bucket Call Change Frame Group Moment Node Stack Summary Sums]
        assert_empty values - Capture.constants(false)
      end
    end
  end
end
