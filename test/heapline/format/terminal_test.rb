# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/inert"
require "heapline/format/terminal"

module Heapline
  module Format
    class TerminalTest < Minitest::Test
      # A terminal of 133 columns.
      class Screen < StringIO
        def tty?
          true
        end

        def winsize
          [24, 133]
        end
      end

      def test_width
        assert_equal 120, Terminal.new(StringIO.new, {}).width
        assert_equal 133, Terminal.new(Screen.new, {}).width
        assert_equal 90, Terminal.new(Screen.new, { "COLUMNS" => "90" }).width
        assert_equal 40, Terminal.new(StringIO.new, { "COLUMNS" => "3" }).width
      end

      def test_colour
        assert Terminal.new(Screen.new, {}).color?
        refute Terminal.new(Screen.new, { "NO_COLOR" => "1" }).color?
        refute Terminal.new(Screen.new, { "TERM" => "dumb" }).color?
        refute Terminal.new(StringIO.new, {}).color?
        assert_equal "\e[31mx\e[0m", Terminal.new(Screen.new, {}).style("x", :red)
      end

      def test_the_locale
        assert Terminal.new(StringIO.new, { "LC_ALL" => "", "LANG" => "de_DE.UTF-8" }).unicode?
        refute Terminal.new(StringIO.new, { "LC_ALL" => "C", "LANG" => "de_DE.UTF-8" }).unicode?
        assert_equal "v ... -", Terminal.new(StringIO.new, {}).sign("▼ … ·")
        assert_equal "\\u{F6}", Terminal.new(StringIO.new, {}).inert("ö")
      end
    end
  end
end
