# frozen_string_literal: true

module Heapline
  class Replay
    # Which allocator to take, by a rule that can be told in a sentence: the one with the least peak of RSS, if it is
    # below that of the first one by LEAST_MEMORY at least and beyond the noise; of those that the noise does not tell
    # apart, the fastest. Where there is none, the fastest of those that need no more memory than the first one, if it
    # is faster by LEAST_TIME at least and beyond the noise. Else there is no reason to change.
    class Advice
      LEAST_MEMORY = 0.03
      LEAST_TIME = 0.10
      # Of the intervals: that of five rounds.
      LEAST_CONFIDENCE = 0.9

      # reason: :memory, :time, :none, or :unsure (too few rounds for a margin of error, or nothing to compare with).
      # variant: which to take; with :none and :unsure the first one. alike: Array of Variant, those that would do as
      # well, as far as the noise tells.
      attr_reader :reason, :variant, :alike

      def initialize(comparison)
        @comparison = comparison
        @reason, (@variant, *@alike) = decide
        @alike.freeze
        freeze
      end

      # The fastest of those that are surely faster than `variant`, by LEAST_TIME at least; of those that the noise
      # does not tell apart, the one with the least RSS: more than that of `variant`. nil where there is none.
      def faster
        return if reason == :unsure

        fast = fastest_first(better(@comparison.variants, :seconds, LEAST_TIME, than: @variant))
        fast.min_by { |variant| variant.estimate(:peak_bytes).median }
      end

      # Estimates of how `variant` differs from the first one: peak, final RSS, time; as Variant#change.
      def peak
        @variant.change(@comparison.baseline, :peak_bytes)
      end

      def final
        @variant.change(@comparison.baseline, :final_bytes)
      end

      def time
        @variant.change(@comparison.baseline, :seconds)
      end

      # The difference in time as a part of the time that the recording took: what it is to the program. nil where
      # the plan does not tell.
      def time_of_program
        seconds = @comparison.plan.recorded_seconds
        return unless seconds.positive?

        (@variant.estimate(:seconds).median - @comparison.baseline.estimate(:seconds).median) / seconds
      end

      private

      def decide
        return [:unsure, [@comparison.baseline]] if unsure?

        smallest = @comparison.time_only ? [] : smallest()
        return [:memory, smallest] unless smallest.empty?

        fast = better(others.reject { |variant| larger?(variant) }, :seconds, LEAST_TIME)
        fast.empty? ? [:none, [@comparison.baseline]] : [:time, fastest_first(fast)]
      end

      def unsure?
        @comparison.variants.size < 2 || @comparison.baseline.estimate(:seconds).confidence < LEAST_CONFIDENCE
      end

      def others
        @comparison.variants.drop(1)
      end

      def larger?(variant)
        !@comparison.time_only && behind?(variant, @comparison.baseline)
      end

      def better(variants, figure, least, than: @comparison.baseline)
        variants.select do |variant|
          change = variant.change(than, figure)
          change.median <= -least && change.apart?(0) && change.high.negative?
        end
      end

      # Of those with less RSS, those that are not surely behind the first of them.
      def smallest
        candidates = better(others, :peak_bytes, LEAST_MEMORY)
        first = candidates.min_by { |variant| variant.estimate(:peak_bytes).median }
        fastest_first(candidates.reject { |variant| behind?(variant, first) })
      end

      def behind?(variant, first)
        change = variant.change(first, :peak_bytes)
        change.median >= LEAST_MEMORY || (change.apart?(0) && change.low.positive? && change.median >= 0.01)
      end

      # The fastest, and those that are not surely slower.
      def fastest_first(variants)
        first = fastest(variants)
        [*first, *(variants - [first]).reject { |variant| slower?(variant, first) }]
      end

      def slower?(variant, first)
        change = variant.change(first, :seconds)
        change.apart?(0) && change.low.positive?
      end

      def fastest(variants)
        variants.min_by { |variant| variant.estimate(:seconds).median }
      end
    end
  end
end
