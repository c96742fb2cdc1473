# frozen_string_literal: true

require_relative "../growth/theil_sen"

module Heapline
  module Testing
    # Does a figure grow with each run of a block, or was it a cache, a buffer, a first use? The rule of growth checks
    # (docs/checks.md). What it looks at is exact: after a full GC at each point nothing is uncertain but which garbage
    # a stale word on a stack keeps, and that comes and goes. It rests on the floor: what is there at a point and at no
    # later one less. A figure grows if
    #
    #   spread   the floor rose in each of ten equal pieces
    #   steady   it rose in the second half at least nine tenths of what it rose in the first
    #   wobble   it rose by more than twice what ever went away again
    #   slope    the interval of the slope (Theil–Sen, see Growth::TheilSen) lies above 0
    #
    # Where there will be no more points (final), eight pieces and a half are enough.
    class GrowthRule
      # Standard errors of the interval on each side: 99.99 %.
      REACH = 3.891
      PIECES = 10
      WOBBLE = 2
      # Least pieces in which it rose, and least share of the first half's rise; by whether it is final.
      SPREAD = { false => PIECES, true => 8 }.freeze
      STEADY = { false => 0.9, true => 0.5 }.freeze

      # points: Array of [iterations so far, value], in order.
      def initialize(points, final: false)
        @points = points
        @final = final
        @values = points.map(&:last)
        @floor = GrowthRule.floor(@values)
      end

      # For each value the least of it and all that follow.
      def self.floor(values)
        least = values.last
        values.reverse.map { |value| least = [least, value].min }.reverse
      end

      # :grows; :not: it stopped, or goes up and down; :unclear: neither, so that more points should be looked at.
      def verdict
        return :not if late_rise.zero? || rise <= WOBBLE * given_back

        spread? && steady? && trend.low.positive? ? :grows : :unclear
      end

      # Growth::TheilSen: the slope and its interval, in units of the figure an iteration.
      def trend
        @trend ||= Growth::TheilSen.of([@points], reach: REACH)
      end

      # By how much the floor rose.
      def rise
        @floor.last - @floor.first
      end

      private

      def late_rise
        @floor.last - @floor[@floor.size / 2]
      end

      # The most that was there and went again.
      def given_back
        @values.zip(@floor).map { |value, floor| value - floor }.max
      end

      def spread?
        edges = (0..PIECES).map { |piece| @floor[piece * (@floor.size - 1) / PIECES] }
        edges.each_cons(2).count { |before, after| after > before } >= SPREAD[@final]
      end

      def steady?
        late_rise >= STEADY[@final] * (rise - late_rise)
      end
    end
  end
end
