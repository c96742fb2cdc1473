# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  class Replay
    # An allocator with its settings, and what the replays on it measured.
    class Variant
      # allocator: its name and version, "jemalloc 5.3.0"; library: its path, nil: libc's own; settings: Hash of
      # environment variables; runs: Array of Run, in the order of the rounds
      attr_reader :allocator, :library, :settings, :runs

      def initialize(allocator:, runs:, library: nil, settings: {})
        @allocator = allocator
        @library = library
        @settings = settings.freeze
        @runs = runs.freeze
        freeze
      end

      # "glibc 2.36 MALLOC_ARENA_MAX=2"
      def name
        [allocator, *settings.map { |key, value| "#{key}=#{value}" }].join(" ")
      end

      # The Estimate of a figure of Run; nil where it has none.
      def estimate(figure)
        values = runs.map(&figure)
        Estimate.new(values) unless values.any?(&:nil?)
      end

      # The same for how it differs from `other`, as a part of it (-0.1: a tenth less), round by round: what slows the
      # machine down for a while slows down both.
      def change(other, figure)
        parts = runs.zip(other.runs).map do |mine, theirs|
          of = theirs.public_send(figure).to_f
          of.zero? ? 0.0 : (mine.public_send(figure) - of) / of
        end
        Estimate.new(parts)
      end

      # The part of RSS at its peak that is not what the program had asked for at its own peak: 0 to 1.
      def fragmentation(plan)
        peak = estimate(:peak_bytes).median
        peak.positive? ? [1 - (plan.peak_live_bytes / peak.to_f), 0.0].max : 0.0
      end

      # The Run whose peak is in the middle; of two the lower one, so that no curve is above the median of the peaks.
      def typical
        runs.sort_by(&:peak_bytes)[(runs.size - 1) / 2]
      end
    end

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

    # What one replay of a plan measured. Bytes of RSS are what it grew by above what was there before the first call.
    #
    # seconds::           within the allocator's functions, of all threads; touch_seconds:: writing to the blocks
    # wall_seconds, cpu_seconds:: of the whole replay, with its own work
    # minor_faults, major_faults:: page faults
    # peak_bytes, final_bytes:: RSS at its highest, and after the last call
    # trimmed_bytes::     RSS after the allocator was told to give back what it can; nil where it has no way to
    # samples::           Array of [calls, live bytes, bytes of RSS], in their order
    # calls::             Hash of "malloc", "calloc", "aligned", "realloc", "free" to { count:, seconds: }
    # interrupted::       calls that are not in seconds: another process got the processor meanwhile
    Run = Struct.new(:seconds, :touch_seconds, :wall_seconds, :cpu_seconds, :minor_faults, :major_faults, :peak_bytes,
                     :final_bytes, :trimmed_bytes, :samples, :calls, :interrupted, keyword_init: true) do
      include Frozen

      # Bytes of the peak that were gone at the end.
      def returned_bytes
        peak_bytes - final_bytes
      end

      def faults
        minor_faults + major_faults
      end
    end
  end
end
