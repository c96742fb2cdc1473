# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/terminal/progress"

module Heapline
  module Terminal
    class ProgressTest < Minitest::Test
      def drawn(tty: true, total: 1000)
        io = StringIO.new
        io.define_singleton_method(:tty?) { tty }
        now = 0.0
        progress = Progress.new(io, clock: -> { now })
        progress.call(100, total)
        now = 1.0
        progress.call(500, total)
        progress.call(600, total)
        progress.finish
        io.string
      end

      def test_a_terminal
        assert_equal "\r\e[K[###############...............] 50 % of 1.00 kB\r\e[K", drawn
      end

      def test_without_a_total
        assert_match(/reading, 500 B/, drawn(total: nil))
      end

      def test_no_terminal
        assert_equal "", drawn(tty: false)
      end
    end
  end
end
