# frozen_string_literal: true

require "test_helper"
require "heapline/format/growth_columns"

module Heapline
  module Format
    class GrowthColumnsTest < Minitest::Test
      One = Struct.new(:slope_low, :slope_high, :live_bytes, keyword_init: true)

      def test_signed
        assert_equal(["+1.50 kB", "-3 B", "0 B", "?"], [1500.2, -3, 0, nil].map do |number|
          GrowthColumns.signed(number)
        end)
      end

      def test_interval
        assert_equal "+1.00 kB to +2.00 kB", GrowthColumns.interval(One.new(slope_low: 1000.0, slope_high: 2000.0))
        assert_equal "?", GrowthColumns.interval(One.new)
      end

      def test_sort
        growth = Struct.new(:series).new([One.new(live_bytes: 1), One.new(live_bytes: 9)])
        assert_equal [9, 1], GrowthColumns.sort(growth, :live).map(&:live_bytes)
        assert_equal [1, 9], GrowthColumns.sort(growth, :slope).map(&:live_bytes)
      end

      def test_keys_are_columns
        keys = GrowthColumns::ALL.map(&:key)
        assert_empty (GrowthColumns::KEYS + GrowthColumns::LEAST) - keys
      end
    end
  end
end
