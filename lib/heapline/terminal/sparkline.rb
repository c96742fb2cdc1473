# frozen_string_literal: true

module Heapline
  module Terminal
    # A row of numbers as a row of small bars, one character each.
    module Sparkline
      BARS = "▁▂▃▄▅▆▇█"
      ASCII = "_.-=+*%#"
      # A span of less than this part of the largest number is shown as a small one: noise is no mountain.
      LEAST_SPAN = 0.05

      # `values` (Numeric, oldest first) as text of at most `width` characters. Where there are more values, each
      # character stands for the mean of several. Empty where there are none. range: what the lowest and the highest bar
      # stand for, where rows are to be compared; else the values' own.
      def self.text(values, width:, unicode: true, range: nil)
        return "" if values.empty? || width < 1

        bars = unicode ? BARS : ASCII
        values = means(values, width)
        low, high = range ? [range.begin, range.end] : values.minmax
        span = [high - low, high.abs * LEAST_SPAN].max
        values.map { |value| bars[span.zero? ? 0 : ((value - low) / span * (bars.length - 1)).round] }.join
      end

      def self.means(values, width)
        return values.map(&:to_f) if values.size <= width

        Array.new(width) do |i|
          part = values[(i * values.size / width)...((i + 1) * values.size / width)]
          part.sum.fdiv(part.size)
        end
      end
      private_class_method :means
    end
  end
end
