# frozen_string_literal: true

require "test_helper"
require "heapline/terminal/inert"

module Heapline
  class InertTest < Minitest::Test
    def test_ordinary_names_stay
      assert_equal "lib/größe.rb", Inert.text("lib/größe.rb")
    end

    def test_what_acts_becomes_visible
      { "\e[31m" => "\\x1B[31m", "a\nb\tc\0" => "a\\x0Ab\\x09c\\x00", "\u202Ex\u2066" => "\\u{202E}x\\u{2066}",
        "\u200Bx\u2028" => "\\u{200B}x\\u{2028}", "\u009B1m" => "\\u{9B}1m", "\xffé" => "\\xFFé" }
        .each do |name, shown|
        assert_equal shown, Inert.text(name)
      end
    end

    def test_bytes_of_any_encoding
      assert_equal "\\xE9", Inert.text("\xE9".dup.force_encoding("ISO-8859-1"))
      assert_equal "é", Inert.text("é".b)
    end

    def test_ascii_where_nothing_else_can_be_shown
      assert_equal "gr\\u{F6}\\u{DF}e", Inert.text("größe", ascii: true)
    end
  end
end
