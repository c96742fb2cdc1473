# frozen_string_literal: true

module Heapline
  module Model
    module Replay
      # A median and the interval that it lies in, of values that were measured again and again.
      #
      # The interval is between two of the values in their order, as far inside as leaves a confidence of CONFIDENCE:
      # the median of whatever the values come from is above or below each of them with even chances, so that the
      # binomial distribution says how likely it is outside (Conover, Practical Nonparametric Statistics, 3.2). Nothing
      # is assumed of how they are spread. Fewer than six values do not suffice for it: then it is all of them.
      class Estimate
        CONFIDENCE = 0.95

        # median, low, high: as the values; confidence: 0 to 1 that the median is within low..high; 0 of one value
        attr_reader :median, :low, :high, :confidence

        # values: Array of Numeric, not empty
        def initialize(values)
          sorted = values.sort
          @median = middle(sorted)
          cut = cut(sorted.size)
          @low = sorted[cut]
          @high = sorted[-1 - cut]
          @confidence = 1 - (2 * below(cut, sorted.size))
          freeze
        end

        # Is it surely more, or surely less, than `value`?
        def apart?(value)
          confidence.positive? && (low > value || high < value)
        end

        # Half of the interval, as a part of the median; nil where there is no interval.
        def margin
          return if confidence.zero? || median.zero?

          (high - low) / 2.0 / median
        end

        private

        def middle(sorted)
          half = sorted.size / 2
          sorted.size.odd? ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0
        end

        # How many values are left out on each side.
        def cut(count)
          most = 0
          most += 1 while 1 - (2 * below(most + 1, count)) >= CONFIDENCE
          most
        end

        # How likely it is that at most `most` of `count` values are below the median.
        def below(most, count)
          (0..most).sum { |chosen| ways(count, chosen) } / (2.0**count)
        end

        def ways(count, chosen)
          (1..chosen).inject(1) { |product, i| product * (count - i + 1) / i }
        end
      end
    end
  end
end
