# frozen_string_literal: true

require "test_helper"
require "heapline/cli/size"

module Heapline
  module CLI
    class SizeTest < Minitest::Test
      def test_bytes
        { "0" => 0, "4096" => 4096, "10k" => 10_000, "1.5MB" => 1_500_000, "2 G" => 2_000_000_000, "7b" => 7 }
          .each { |text, number| assert_equal number, Size.bytes(text) }
        ["", "x", "-1", "1T", "1.5.2", nil].each { |text| assert_raises(UsageError) { Size.bytes(text) } }
      end

      def test_seconds
        { "60" => 60, "0.05" => 0.05, "2.0" => 2, "5m" => 300, "1h" => 3600, "3s" => 3 }
          .each { |text, number| assert_equal number, Size.seconds(text) }
        ["", "x", "-1", "0", "1d", "1.5.2", nil].each { |text| assert_raises(UsageError) { Size.seconds(text) } }
      end

      def test_count
        assert_equal [0, 37], [Size.count("0"), Size.count("37")]
        ["-1", "1.5", "", "1e3", "9" * 20].each { |text| assert_raises(UsageError) { Size.count(text) } }
      end
    end
  end
end
