# frozen_string_literal: true

require "test_helper"
require "heapline/growth_log/pipe"

module Heapline
  module GrowthLog
    class PipeTest < Minitest::Test
      def setup
        @reader, @writer = IO.pipe
        @pipe = Pipe.new(@writer)
      end

      def teardown
        [@reader, @writer].each(&:close)
      end

      def test_lines_arrive
        assert_equal [true, true], [@pipe.write(1, "a\n"), @pipe.write(2, "b\n")]
        assert_equal "a\nb\n", @reader.readpartial(99)
        assert_nil @pipe.directory(1)
      end

      # A pipe has room for 64 KiB.
      def test_a_slow_reader_costs_whole_lines
        long = "#{"x" * 100_000}\n"
        assert_equal [true, false, false], [@pipe.write(1, long), @pipe.write(1, "lost\n"), @pipe.write(1, "lost\n")]
        read = @reader.readpartial(200_000)
        assert_predicate @pipe, :open?
        read << @reader.readpartial(200_000)
        assert @pipe.write(1, "next\n")
        assert_equal "#{long}next\n", read + @reader.readpartial(99)
      end

      def test_a_reader_that_has_gone
        @reader.close
        refute @pipe.write(1, "a\n")
        refute_predicate @pipe, :open?
      end
    end
  end
end
