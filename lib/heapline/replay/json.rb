# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../table/json_object"
require_relative "words"

module Heapline
  class Replay
    # A Replay::Comparison as one JSON object, ASCII only; docs/cli.md describes each key.
    # @api private
    class Json
      include Table::JsonObject

      SCHEMA_VERSION = 1
      ESTIMATES = { seconds: :seconds, peak_rss_bytes: :peak_bytes, final_rss_bytes: :final_bytes,
                    trimmed_rss_bytes: :trimmed_bytes, returned_bytes: :returned_bytes,
                    touch_seconds: :touch_seconds, wall_seconds: :wall_seconds, cpu_seconds: :cpu_seconds,
                    minor_faults: :minor_faults, major_faults: :major_faults }.freeze

      # Write the object and a line end to `io`.
      def render(comparison, io)
        write(to_h(comparison), io)
      end

      # The object as a Hash.
      def to_h(comparison)
        { schema_version: SCHEMA_VERSION, plan: plan(comparison.plan), rounds: comparison.rounds,
          touching: comparison.touching, time_only: comparison.time_only,
          variants: comparison.variants.map { |variant| variant(variant, comparison) },
          missing: texts(comparison.missing), problems: texts(comparison.problems), advice: advice(comparison) }
      end

      private

      def texts(words)
        words.map { |each| text(each) }
      end

      def plan(plan)
        plan.to_h.merge(name: text(plan.name))
      end

      def variant(variant, comparison)
        { name: text(variant.name), allocator: text(variant.allocator), library: text(variant.library),
          settings: variant.settings.to_h { |name, value| [text(name), text(value)] },
          fragmentation: comparison.time_only ? nil : variant.fragmentation(comparison.plan).round(4),
          **ESTIMATES.transform_values { |figure| estimate(variant.estimate(figure)) },
          runs: variant.runs.map { |run| run(run) } }
      end

      def estimate(found)
        return unless found

        { median: found.median, low: found.low, high: found.high, confidence: found.confidence.round(4) }
      end

      def run(run)
        run.to_h.except(:samples).merge(samples: run.samples.map do |calls, live, rss|
          { calls: calls, live_bytes: live, rss_bytes: rss }
        end)
      end

      def advice(comparison)
        advice = comparison.advice
        changes = %i[time] + (comparison.time_only ? [] : %i[peak final])
        { reason: advice.reason, variant: text(advice.variant.name),
          alike: texts(advice.alike.map(&:name)), faster: text(advice.faster&.name),
          words: texts(Words.new(comparison).advice.flatten),
          **changes.to_h { |change| [:"#{change}_change", estimate(advice.public_send(change))] } }
      end
    end
  end
end
