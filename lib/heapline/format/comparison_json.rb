# frozen_string_literal: true

require "json"
require_relative "comparison_columns"
require_relative "inert"
require_relative "selection"

module Heapline
  module Format
    # A Model::Comparison as one JSON object; docs/cli.md describes each key. Output is ASCII.
    class ComparisonJson
      SCHEMA_VERSION = 1

      # by: nil for sites, or :gem, :file, :library, :tag. top (0: all), sort (a key of ComparisonColumns), min: as for
      # ComparisonText.
      def initialize(by: nil, top: 0, sort: :growth, min: 0)
        @by = by
        @selection = Selection.new(top: top, sort: ComparisonColumns.fetch(sort).figure, min: min)
      end

      # Write the object and a line end to `io`.
      def render(comparison, io)
        io.write("#{JSON.pretty_generate(to_h(comparison), ascii_only: true)}\n")
      end

      # The object as a Hash.
      def to_h(comparison)
        rows = @selection.of(@selection.large(@by ? comparison.sums(@by) : comparison.changes))
        { schema_version: SCHEMA_VERSION, same_process: comparison.same_process?,
          seconds: comparison.seconds&.round(3), before: side(comparison.before), after: side(comparison.after),
          (@by ? :groups : :sites) => rows.map { |row| place(row).merge(figures(row)) } }
      end

      private

      def side(snapshot)
        { pid: snapshot.pid, command: snapshot.command&.map { |word| text(word) }, state: snapshot.state,
          at: (snapshot.ended_at || snapshot.taken_at)&.getutc&.strftime("%Y-%m-%dT%H:%M:%S.%6NZ"),
          live_bytes: snapshot.live_bytes, live_blocks: snapshot.live_blocks, allocations: snapshot.allocations,
          bytes_allocated: snapshot.bytes_allocated }
      end

      def place(row)
        location = row.location
        return { @by => text(location.to_s) } if @by

        { location: text(location.to_s), path: text(location.path), lineno: location.lineno,
          label: text(location.label), library: text(location.library), gem: text(location.gem), tag: text(row.tag) }
      end

      def figures(row)
        { growth_bytes: row.growth_bytes, before_bytes: row.before_bytes, after_bytes: row.live_bytes,
          growth_blocks: row.growth_blocks, allocations: row.allocations, bytes_allocated: row.bytes_allocated }
      end

      def text(value)
        value && Inert.valid(value)
      end
    end
  end
end
