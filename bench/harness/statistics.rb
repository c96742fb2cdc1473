# frozen_string_literal: true

module Bench
  # A median and how far the values lie apart. Values of each kind keep their unit.
  Spread = Struct.new(:median, :low, :high, keyword_init: true)

  # Of Arrays of numbers.
  module Statistics
    module_function

    # nil of no values
    def spread(values)
      return if values.empty?

      Spread.new(median: median(values), low: values.min, high: values.max)
    end

    def median(values)
      sorted = values.sort
      middle = sorted.size / 2
      sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
    end

    # nil of no values; for ratios, where 2 and 1/2 cancel out
    def geometric_mean(values)
      return if values.empty?

      Math.exp(values.sum { |value| Math.log(value) } / values.size)
    end
  end
end
