# frozen_string_literal: true

require "test_helper"
require "rbconfig"
require "heapline/leaks/functions"

module Heapline
  module Leaks
    class FunctionsTest < Minitest::Test
      Name = Symbols::Name
      # Says what it was given, whatever the object.
      Fixed = Struct.new(:answer) do
        def names(_path, addresses)
          answer.slice(*addresses)
        end
      end

      # An object without a table of all its symbols: what a tool says without a line is the nearest exported one.
      def at(answer, *addresses)
        Functions.new(Fixed.new(answer)).at("/none.so", addresses)
      end

      def test_what_has_a_line_is_known
        names = [Name.new("inner", "a.c", 3), Name.new("outer", nil, nil)]
        assert_equal({ 16 => names }, at({ 16 => names, 17 => [] }, 16))
      end

      def test_no_name_is_better_than_a_wrong_one
        assert_equal({ 16 => [Name.new(nil)], 17 => [Name.new(nil)] },
                     at({ 16 => [Name.new("nearest", nil, nil)] }, 16, 17))
      end
    end
  end
end
