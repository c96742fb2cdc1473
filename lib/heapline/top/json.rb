# frozen_string_literal: true

require_relative "../table/json_object"
require_relative "screen/columns"

module Heapline
  module Top
    # One frame of `heapline top` as one JSON object; docs/formats.md describes each key. Rates are a second, and null
    # before the second reading.
    class Json
      include Table::JsonObject

      SCHEMA_VERSION = 1
      FIGURES = %i[live_bytes live_blocks growth_bytes].freeze

      # rows: as many as there are to be (0: all).
      def initialize(rows)
        @rows = rows
      end

      # Write what `view` shows of `scene` (Screen::Scene) and a line end to `io`.
      def render(view, scene, io)
        rows = scene.ordered(view)
        rows = scene.named(@rows.zero? ? rows.all : rows.first(@rows))
        write({ schema_version: SCHEMA_VERSION, **(scene.watch ? one(scene.watch, view, rows) : all(rows)) }, io)
      end

      private

      def all(rows)
        { processes: rows.map { |row| { **process(row.snapshot), rss_bytes: row.rss_bytes, **moving(row.figures) } } }
      end

      def one(watch, view, rows)
        now = watch.now
        { **process(now.root), processes: now.snapshots.size, rss_bytes: now.rss_bytes, **moving(watch.activity.total),
                               by: view.by == :overview ? :line : view.by, rows: rows.map { |row| row(row) } }
      end

      def process(snapshot)
        { pid: snapshot.pid, command: snapshot.command.map { |word| text(word) }, state: snapshot.state,
          taken_at: time(snapshot.taken_at) }
      end

      def moving(row)
        rates = Figures::SiteFigures::RATES.keys.to_h { |figure| [:"#{figure}_per_second", rate(row, figure)] }
        { **FIGURES.to_h { |figure| [figure, row.public_send(figure)] }, **rates,
          temporary_share: row.temporary_share&.round(3) }
      end

      def rate(row, figure)
        row.rate(figure)&.round(3)
      end

      def row(row)
        place = row.location
        { location: text(place.to_s), path: text(place.path), lineno: place.lineno, label: text(place.label),
          library: text(place.library), gem: text(place.gem), tag: text(row.tag), **nature(row), **moving(row) }
      end

      # Of Ruby objects.
      def nature(row)
        row.site.kind == :object ? { class: text(row.class_name), type: row.type } : {}
      end
    end
  end
end
