# frozen_string_literal: true

require "test_helper"
require "heapline/terminal/display_width"

module Heapline
  module Terminal
    class DisplayWidthTest < Minitest::Test
      def test_columns
        { "abc" => 3, "" => 0, "Größe" => 5, "日本語.rb" => 9, "e\u0301" => 1, "한국" => 4, "\u1112\u1161\u11ab" => 2,
          "ｶﾅ" => 2, "Ａ" => 2, "🚀" => 2, "、。" => 4, "é ü" => 3, "…▼▁█·" => 5 }.each do |text, width|
          assert_equal width, DisplayWidth.of(text), text
        end
      end

      def test_styles_take_no_column
        assert_equal 3, DisplayWidth.of("\e[1mabc\e[0m")
        assert_equal "\e[1mab\e[0m", DisplayWidth.first("\e[1mabc\e[0m", 2)
      end

      def test_cutting
        assert_equal "abc", DisplayWidth.first("abc", 3)
        assert_equal "ab…", DisplayWidth.first("abcd", 3, sign: "…")
        assert_equal "日", DisplayWidth.first("日本", 3)
        assert_equal "日…", DisplayWidth.first("日本語", 4, sign: "…")
        assert_equal "本", DisplayWidth.last("日本", 3)
        assert_equal "…本語", DisplayWidth.last("日本語", 5, sign: "…")
        assert_equal "", DisplayWidth.first("日本", 0)
        assert_equal "", DisplayWidth.last("abcd", 2, sign: "...")
      end

      def test_never_wider_than_asked
        text = "a日e\u0301\e[1m한🚀\e[0mb語"
        (0..12).each do |width|
          assert_operator DisplayWidth.of(DisplayWidth.first(text, width, sign: "...")), :<=, width
          assert_operator DisplayWidth.of(DisplayWidth.last(text.gsub(DisplayWidth::STYLE, ""), width)), :<=, width
        end
      end

      def test_filling
        assert_equal "日  ", DisplayWidth.fill("日", 4)
        assert_equal "日本", DisplayWidth.fill("日本", 3)
      end
    end
  end
end
