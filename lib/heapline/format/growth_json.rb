# frozen_string_literal: true

require_relative "growth_columns"
require_relative "inert"
require_relative "json_object"

module Heapline
  module Format
    # A Model::Growth as one JSON object, ASCII only. docs/cli.md describes each key; a change of their meaning raises
    # schema_version.
    class GrowthJson
      include JsonObject

      SCHEMA_VERSION = 1
      TEXTS = %i[location label gem library tag kind].freeze

      # top: series (0: all); sort: key of GrowthColumns that orders them; problems: Array of Strings, files that could
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
        shown = GrowthColumns.sort(growth, @sort)
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
        fields = one.to_h
        TEXTS.each { |name| fields[name] = text(fields[name]) }
        %i[slope_bytes_per_hour slope_low slope_high].each { |name| fields[name] = fields[name]&.round(1) }
        fields
      end

      def time(value)
        value&.getutc&.strftime("%Y-%m-%dT%H:%M:%S.%LZ")
      end
    end
  end
end
