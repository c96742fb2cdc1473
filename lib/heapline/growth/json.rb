# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../table/json_object"

module Heapline
  # @api private
  module Growth
    # A Growth::History as one JSON object, ASCII only. docs/cli.md describes each key; a change of their meaning raises
    # schema_version.
    class Json
      include Table::JsonObject

      SCHEMA_VERSION = 2
      TEXTS = %i[location label gem library tag kind].freeze

      # top: series (0: all); sort: as History#sorted takes it; problems: Array of Strings, files that could
      # not be read.
      def initialize(top: 0, sort: :slope, problems: [])
        @top = top
        @sort = sort
        @problems = problems
      end

      def render(growth, io)
        write(to_h(growth), io)
      end

      # The object as a Hash.
      def to_h(growth)
        shown = growth.sorted(@sort)
        shown = shown.first(@top) unless @top.zero?
        { schema_version: SCHEMA_VERSION, by: growth.by, first_at: time(growth.first_at), last_at: time(growth.last_at),
          lines: growth.counts, problems: @problems.map { |text| Inert.valid(text) },
          processes: growth.processes.map { |process| process(process) },
          memory: growth.memory.values.map { |one| series(one) }, series: shown.map { |one| series(one) } }
      end

      private

      def process(process)
        { host: text(process.host), pid: process.pid, command: text(process.command), ruby: text(process.ruby),
          state: text(process.state), here: process.here, first_at: time(process.first_at),
          last_at: time(process.last_at), lines: process.lines, gaps: process.gaps,
          dropped_lines: process.dropped_lines }
      end

      def series(one)
        fields = one.to_h.except(:facts) # of `--why`, which is text
        TEXTS.each { |name| fields[name] = text(fields[name]) }
        %i[slope_bytes_per_hour slope_low slope_high].each { |name| fields[name] = fields[name]&.round(1) }
        fields
      end

      def time(value)
        value&.getutc&.strftime("%Y-%m-%dT%H:%M:%S.%LZ")
      end
    end

    # A Growth::Comparison as one JSON object, ASCII only; docs/cli.md describes each key.
    class ComparisonJson
      include Table::JsonObject

      SCHEMA_VERSION = 2
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
        Json.new.to_h(growth).slice(:first_at, :last_at, :lines, :processes, :memory)
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
