# frozen_string_literal: true

require_relative "../figures/units"

module Heapline
  class Replay
    # A Replay::Comparison in sentences; plain text that is not yet inert.
    # @api private
    class Words
      TOUCHING = {
        written: "blocks are written to as programs do", all: "every page of a block is written to",
        none: "no block is written to"
      }.freeze

      def initialize(comparison)
        @comparison = comparison
        @plan = comparison.plan
      end

      # What was performed: Array of String.
      def facts
        [@plan.name, count(@plan.calls, "call"), count(@plan.threads, "thread"),
         ("recorded in #{Units.duration(@plan.recorded_seconds)}" if @plan.recorded_seconds.positive?),
         "live #{Units.bytes(@plan.peak_live_bytes)} at the peak, #{Units.bytes(@plan.end_live_bytes)} at the end",
         ("#{count(@plan.left_out, "free")} of older blocks left out" if @plan.left_out.positive?)].compact
      end

      # How it was measured: Array of String.
      def manner
        rounds = @comparison.rounds
        return ["once: no margin of error", TOUCHING.fetch(@comparison.touching)] if rounds == 1

        ["median of #{rounds} in turn, ± half of its #{confidence} % interval", TOUCHING.fetch(@comparison.touching)]
      end

      # The recommendation: Array of lines, each an Array of String.
      def advice
        advice = @comparison.advice
        case advice.reason
        when :unsure then [[unsure]]
        when :none then [[none], *beside(advice)]
        else [["take #{advice.variant.name}"], ["against #{@comparison.baseline.name}", *changes(advice)],
              *beside(advice)]
        end
      end

      # "-23 % (-25 to -22)"
      def self.change(estimate)
        return percent(estimate.median) if estimate.confidence.zero?

        "#{percent(estimate.median)} (#{[estimate.low, estimate.high].map { |end_| number(end_) }.join(" to ")})"
      end

      def self.percent(part)
        "#{number(part)} %"
      end

      def self.number(part)
        rounded = (part * 100).round(part.abs < 0.0995 ? 1 : 0) + 0 # no -0.0
        "#{"+" if rounded.positive?}#{rounded}"
      end
      private_class_method :number

      private

      def count(number, noun)
        "#{Units.count(number)} #{noun}#{"s" if number != 1}"
      end

      def confidence
        (@comparison.baseline.estimate(:seconds).confidence * 100).floor
      end

      def unsure
        return "one allocator has nothing to compare with: --allocator glibc,jemalloc" if @comparison.variants.size < 2

        "too few rounds for a margin of error: --repeat 5 gives a recommendation"
      end

      def none
        "no difference beyond the noise that is worth a change: stay with #{@comparison.baseline.name}"
      end

      def changes(advice)
        time = ["time in calls #{Words.change(advice.time)}#{of_program(advice.time_of_program)}"]
        return time if @comparison.time_only

        ["peak RSS #{Words.change(advice.peak)}", "at the end #{Words.change(advice.final)}", *time]
      end

      # What else may be taken.
      def beside(advice)
        alike = advice.alike.map(&:name)
        faster = advice.faster
        [(["as good within the noise: #{alike.join(", ")}"] unless alike.empty?),
         (faster(faster, advice.variant) if faster)].compact
      end

      def faster(faster, taken)
        ["faster with more memory: #{faster.name}", "time in calls #{Words.change(faster.change(taken, :seconds))}",
         "peak RSS #{Words.change(faster.change(taken, :peak_bytes))}"]
      end

      # What the time in calls is to the program as a whole.
      def of_program(part)
        return "" unless part

        ", #{Words.percent(part)} of the time that the recording took"
      end
    end
  end
end
