# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/terminal"
require "heapline/format/wrap"

module Heapline
  module Format
    class WrapTest < Minitest::Test
      def test_lines_as_long_as_the_width_allows
        terminal = Terminal.new(StringIO.new, { "COLUMNS" => "40", "LANG" => "C.UTF-8" })
        assert_equal ["#{"a" * 20} · #{"b" * 15}", "  cc"], Wrap.parts(["a" * 20, "b" * 15, "cc"], terminal)
        assert_equal ["x"], Wrap.parts(["x"], terminal)
      end
    end
  end
end
