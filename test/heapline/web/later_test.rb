# frozen_string_literal: true

require "test_helper"
require "heapline/web/later"

module Heapline
  module Web
    class LaterTest < Minitest::Test
      def test_finishes_after_the_time_has_passed
        waited = nil
        assert_equal(:done, Later.new(7) { :done }.take { |seconds| waited = seconds })
        assert_equal 7, waited
      end

      def test_does_not_finish_for_nobody
        assert_nil(Later.new(7) { flunk }.take { false })
      end

      def test_leaves_whatever_happens
        left = 0
        later = Later.new(7) { raise "no" }.leaving { left += 1 }
        assert_raises(RuntimeError) { later.take { true } }
        later.take { false }
        assert_equal 2, left
      end
    end
  end
end
