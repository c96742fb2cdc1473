# frozen_string_literal: true

module Heapline
  module Model
    # How a figure moved since it was first seen, in bounded room: when there are too many values, every second one is
    # left out, and from then on only every second one is kept.
    class Trend
      LIMIT = 64

      def initialize
        @values = []
        @stride = 1
        @count = 0
      end

      # Add a value (Numeric; nil is passed over).
      def <<(value)
        return self if value.nil?

        keep(value) if (@count % @stride).zero?
        @count += 1
        @last = value
        self
      end

      # At most LIMIT + 1 values, oldest first; the newest is always among them.
      def values
        ((@count - 1) % @stride).zero? ? @values.dup : [*@values, @last]
      end

      private

      def keep(value)
        if @values.size == LIMIT
          @values = @values.each_slice(2).map(&:first)
          @stride *= 2
          return unless (@count % @stride).zero?
        end
        @values << value
      end
    end
  end
end
