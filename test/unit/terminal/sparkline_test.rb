# frozen_string_literal: true

require "test_helper"
require "heapline/terminal/sparkline"

module Heapline
  module Terminal
    class SparklineTest < Minitest::Test
      def test_from_the_least_to_the_most
        assert_equal "▁▂▃▄▅▆▇█", Sparkline.text((0..7).to_a, width: 10)
        assert_equal "_.-=+*%#", Sparkline.text((0..7).to_a, width: 10, unicode: false)
      end

      def test_more_values_than_room_are_averaged
        assert_equal "▁█", Sparkline.text([0, 0, 0, 9, 9, 9], width: 2)
        assert_equal 7, Sparkline.text((1..61).to_a, width: 7).length
      end

      def test_noise_stays_flat
        assert_equal "▁▁▂", Sparkline.text([1_000_000, 1_000_000, 1_005_000], width: 3)
        assert_equal "▁▁▁", Sparkline.text([0, 0, 0], width: 3)
      end

      def test_falling_below_zero
        assert_equal "█▁", Sparkline.text([5, -5], width: 2)
      end

      def test_nothing
        assert_equal "", Sparkline.text([], width: 5)
        assert_equal "", Sparkline.text([1], width: 0)
      end
    end
  end
end
