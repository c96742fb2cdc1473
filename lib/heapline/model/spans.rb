# frozen_string_literal: true

module Heapline
  module Model
    # How long something lived, or was away, in GC generations: how many were seen, their sum, and the sum of their
    # squares. min, max, mean and stddev are nil where there was none. Frozen.
    class Spans
      attr_reader :count, :sum, :squares, :min, :max

      # Of a part of a flight file's header (Hash).
      def self.of(raw)
        known = raw[:count].positive?
        new(count: raw[:count], sum: raw[:sum], squares: raw[:squares], min: (raw[:least] if known),
            max: (raw[:most] if known))
      end

      def initialize(count:, sum:, squares:, min:, max:)
        @count = count
        @sum = sum
        @squares = squares
        @min = min
        @max = max
        freeze
      end

      # Float
      def mean
        sum.fdiv(count) if count.positive?
      end

      # Float; those that were seen are all that there were, so it is divided by their number.
      def stddev
        Math.sqrt([squares.fdiv(count) - (mean**2), 0.0].max) if count.positive?
      end
    end
  end
end
