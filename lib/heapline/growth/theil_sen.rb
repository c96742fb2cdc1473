# frozen_string_literal: true

module Heapline
  module Growth
    # The slope of points, and how sure it is: the median of the slopes of all pairs (Theil 1950; Sen, "Estimates of
    # the Regression Coefficient Based on Kendall's Tau", JASA 63, 1968), which single wild points do not move. The
    # interval is Sen's, from the variance of Kendall's S with ties. Points of several lives (processes) are only
    # compared within a life, and S and its variance are added up over them (Hirsch, Slack and Smith, "Techniques of
    # Trend Analysis for Monthly Water Quality Data", Water Resources Research 18, 1982).
    #
    # slope, low, high:: units of the points' second value a unit of the first; low and high are infinite where
    #                    the points are too few for an interval. 0.0 where there are no pairs at all.
    TheilSen = Struct.new(:slope, :low, :high, keyword_init: true) do
      # lives: Array of lives, each an Array of [time, value] in the order of time. reach: how many standard errors
      # the interval has on each side (2.576: 99 %).
      def self.of(lives, reach:)
        slopes = lives.flat_map { |points| slopes(points) }.sort
        return new(slope: 0.0, low: -Float::INFINITY, high: Float::INFINITY).freeze if slopes.empty?

        width = reach * Math.sqrt(lives.sum { |points| variance(points) })
        below = ((slopes.size - width) / 2).floor
        new(slope: median(slopes), low: below.negative? ? -Float::INFINITY : slopes[below],
            high: below.negative? ? Float::INFINITY : slopes[-1 - below]).freeze
      end

      def self.slopes(points)
        points.each_with_index.flat_map do |(time, value), i|
          points.drop(i + 1).filter_map do |later, other|
            (other - value) / (later - time).to_f if later > time
          end
        end
      end

      # The variance of Kendall's S; values that are equal make it smaller.
      def self.variance(points)
        ties = points.map(&:last).tally.each_value.sum { |count| spread(count) }
        (spread(points.size) - ties) / 18.0
      end

      def self.spread(count)
        count * (count - 1) * ((2 * count) + 5)
      end

      # Of sorted values.
      def self.median(values)
        middle = values.size / 2
        values.size.odd? ? values[middle] : (values[middle - 1] + values[middle]) / 2.0
      end

      private_class_method :slopes, :variance, :spread
    end
  end
end
