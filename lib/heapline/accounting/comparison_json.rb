# frozen_string_literal: true

require_relative "comparison"
require_relative "../table/json_object"
require_relative "../table/selection"

module Heapline
  module Accounting
    # An Accounting::Comparison as one JSON object; docs/cli.md describes each key. Output is ASCII.
    class ComparisonJson
      include Table::JsonObject

      SCHEMA_VERSION = 1

      # by: nil for sites, or :gem, :file, :library, :tag, :class. objects: only the Ruby objects (by :class: always
      # so). top (0: all), sort (a key of ChangeColumns), min: as for ComparisonText.
      def initialize(by: nil, objects: false, top: 0, sort: :growth, min: 0)
        @by = by
        @objects_alone = objects || by == :class
        @selection = Table::Selection.new(top: top, sort: ChangeColumns.fetch(sort).figure, min: min)
      end

      # Write the object and a line end to `io`.
      def render(comparison, io)
        write(to_h(comparison), io)
      end

      # The object as a Hash.
      def to_h(comparison)
        @calls = comparison.calls?
        { schema_version: SCHEMA_VERSION, same_process: comparison.same_process?,
          seconds: comparison.seconds&.round(3), before: side(comparison.before), after: side(comparison.after),
          **sites(comparison), objects: objects(comparison.objects) }
      end

      private

      def sites(comparison)
        @objects_alone ? {} : rows(comparison.changes, -> { comparison.sums(@by) }) { |row| figures(row) }
      end

      # null where not both sides know of them; a library makes none.
      def objects(changes)
        rows(changes.list, -> { changes.sums(@by) }) { |row| object_figures(row) } if changes && @by != :library
      end

      # { sites: rows } or { groups: rows }; sums: what adds them up.
      def rows(list, sums)
        rows = @selection.of(@by ? sums.call : list)
        { (@by ? :groups : :sites) => rows.map { |row| place(row).merge(yield(row)) } }
      end

      def side(snapshot)
        { pid: snapshot.pid, command: snapshot.command&.map { |word| text(word) }, state: snapshot.state,
          at: time(snapshot.ended_at || snapshot.taken_at),
          live_bytes: snapshot.live_bytes,
          **calls(snapshot, :live_blocks, Comparison.calls?(snapshot)) }
      end

      # Figures of blocks and calls, null where they are not known.
      def calls(counted, blocks, known)
        [blocks, :allocations, :bytes_allocated].to_h { |figure| [figure, (counted.public_send(figure) if known)] }
      end

      def place(row)
        location = row.location
        return { @by => text(location.to_s) } if @by

        { location: text(location.to_s), path: text(location.path), lineno: location.lineno,
          label: text(location.label), **nature(row), gem: text(location.gem), tag: text(row.tag) }
      end

      def nature(row)
        row.object? ? { class: text(row.class_name), type: row.type } : { library: text(row.location.library) }
      end

      def object_figures(row)
        { growth: row.growth_blocks, before: row.before_blocks, after: row.live_blocks,
          growth_slot_bytes: row.growth_bytes, allocated: row.allocations }
      end

      def figures(row)
        { growth_bytes: row.growth_bytes, before_bytes: row.before_bytes, after_bytes: row.live_bytes,
          **calls(row, :growth_blocks, @calls) }
      end
    end
  end
end
