# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/terminal/inert"
require "heapline/terminal/output"

module Heapline
  module Terminal
    class OutputTest < Minitest::Test
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
        assert_equal 120, Output.new(StringIO.new, {}).width
        assert_equal 133, Output.new(Screen.new, {}).width
        assert_equal 90, Output.new(Screen.new, { "COLUMNS" => "90" }).width
        assert_equal 40, Output.new(StringIO.new, { "COLUMNS" => "3" }).width
      end

      def test_colour
        assert Output.new(Screen.new, {}).color?
        refute Output.new(Screen.new, { "NO_COLOR" => "1" }).color?
        refute Output.new(Screen.new, { "TERM" => "dumb" }).color?
        refute Output.new(StringIO.new, {}).color?
        assert_equal "\e[31mx\e[0m", Output.new(Screen.new, {}).style("x", :red)
      end

      def test_the_locale
        assert Output.new(StringIO.new, { "LC_ALL" => "", "LANG" => "de_DE.UTF-8" }).unicode?
        refute Output.new(StringIO.new, { "LC_ALL" => "C", "LANG" => "de_DE.UTF-8" }).unicode?
        assert_equal "v ... -", Output.new(StringIO.new, {}).sign("▼ … ·")
        assert_equal "\\u{F6}", Output.new(StringIO.new, {}).inert("ö")
      end

      def test_statements_on_lines_as_long_as_the_width_allows
        terminal = Output.new(StringIO.new, { "COLUMNS" => "40", "LANG" => "C.UTF-8" })
        assert_equal ["#{"a" * 20} · #{"b" * 15}", "  cc"], terminal.wrap(["a" * 20, "b" * 15, "cc"])
        assert_equal ["x"], terminal.wrap(["x"])
      end
    end
  end
end
