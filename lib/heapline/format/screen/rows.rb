# frozen_string_literal: true

require_relative "../inert"
require_relative "columns"

module Heapline
  module Format
    class Screen
      # The rows of a live table in the order in which they are shown: filtered, sorted, with the marked one.
      class Rows
        attr_reader :all

        # view: View; rows: of Model::Activity or Model::Fleet.
        def initialize(view, rows)
          @view = view
          column = Columns.fetch(view.page, view.sort_key) || Columns.of(view.page).first
          @all = rows.select { |row| match?(row) }.sort_by { |row| order(column, row) }
        end

        def size
          all.size
        end

        # Place of the marked row; the first where it has gone.
        def index
          @index ||= (@view.cursor && all.index { |row| row.name == @view.cursor.first }) || 0
        end

        # The marked row; nil where there is none.
        def current
          all[index]
        end

        # The row that is `step` below the marked one (above: negative), or the last there is.
        def at(step)
          all[(index + step).clamp(0, [size - 1, 0].max)]
        end

        # [rows, place of the marked one among them]: as many as `height` holds, the marked one in the middle.
        def around(height)
          first = (index - (height / 2)).clamp(0, [size - height, 0].max)
          [all[first, height] || [], index - first]
        end

        private

        # The largest first; a pid is a name and not a size.
        def order(column, row)
          value = column.value(row)
          [column.key == :pid ? value : -value, -row.live_bytes, row.name.to_s.b]
        end

        def match?(row)
          @wanted ||= Inert.valid(@view.pattern).downcase
          @wanted.empty? || texts(row).any? { |text| Inert.valid(text).downcase.include?(@wanted) }
        end

        def texts(row)
          return [row.name.to_s, row.command] if @view.page == :processes

          place = row.location
          [row.name, place.label, place.gem, row.tag, place.to_s].compact
        end
      end
    end
  end
end
