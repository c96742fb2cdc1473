# frozen_string_literal: true

require "test_helper"
require "heapline/figures/units"

module Heapline
  class UnitsTest < Minitest::Test
    def test_bytes
      { 0 => "0 B", 999 => "999 B", 1000 => "1.00 kB", -1024 => "-1.02 kB", 51_200_000 => "51.20 MB",
        999_999 => "1.00 MB", 1_210_000_000 => "1.21 GB", 10**30 => "1000000000000.00 EB", 240_185 => "240.19 kB",
        1_005 => "1.01 kB", -1_995 => "-2.00 kB" }.each do |number, text|
        assert_equal text, Units.bytes(number)
      end
    end

    def test_count
      assert_equal(%w[0 999 1,000 -5,402,118], [0, 999, 1000, -5_402_118].map { |number| Units.count(number) })
    end

    def test_signed
      assert_equal(["+1.50 kB", "-3 B", "0 B", "?"], [1500.2, -3, 0, nil].map { |number| Units.signed(number) })
    end

    def test_duration
      assert_equal(["0.4 s", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 03 h"],
                   [0.4, 12.3, 245, 11_220, 183_600].map { |seconds| Units.duration(seconds) })
    end
  end
end
