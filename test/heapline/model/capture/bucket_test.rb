# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/bucket"

module Heapline
  module Model
    module Capture
      class BucketTest < Minitest::Test
        def test_of_rows_by_bits
          rows = [[0, 0], [1, 1], [0, 0], [2, 11], [0, 0]]
          assert_equal [[1..1, 1, 1], [2..3, 0, 0], [4..7, 2, 11]], Bucket.of(rows).map(&:to_a)
          assert_equal [[0..0, 3, 0]], Bucket.of([[3, 0]]).map(&:to_a)
          assert_empty Bucket.of([[0, 0]])
        end
      end
    end
  end
end
