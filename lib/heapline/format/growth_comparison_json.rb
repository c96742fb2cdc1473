# frozen_string_literal: true

require_relative "growth_json"
require_relative "json_object"

module Heapline
  module Format
    # A Model::GrowthComparison as one JSON object, ASCII only; docs/cli.md describes each key.
    class GrowthComparisonJson
      include JsonObject

      SCHEMA_VERSION = 1
      RATES = %i[slope_bytes_per_hour slope_low slope_high].freeze

      # top: changes (0: all).
      def initialize(top: 0)
        @top = top
      end

      # Write the object and a line end to `io`.
      def render(comparison, io)
        write(to_h(comparison), io)
      end

      # The object as a Hash.
      def to_h(comparison)
        changes = @top.zero? ? comparison.changes : comparison.changes.first(@top)
        { schema_version: SCHEMA_VERSION, by: comparison.after.by, before: side(comparison.before),
          after: side(comparison.after), changes: changes.map { |change| change(change) } }
      end

      private

      # The log as `heapline growth` has it, but for its series.
      def side(growth)
        GrowthJson.new.to_h(growth).slice(:first_at, :last_at, :processes, :memory)
      end

      def change(change)
        place = change.location
        { location: text(place.to_s), label: text(place.label), library: text(place.library), tag: text(change.tag),
          direction: change.direction, change_bytes_per_hour: change.change.round(1), live_bytes: change.live_bytes,
          before: rates(change.before), after: rates(change.after) }
      end

      def rates(series)
        return nil unless series

        { verdict: series.verdict, **RATES.to_h { |name| [name, series[name]&.round(1)] } }
      end
    end
  end
end
