# frozen_string_literal: true

require_relative "../../terminal/inert"
require_relative "columns"

module Heapline
  module Top
    class Screen
      # The rows of a live table in the order in which they are shown: filtered, sorted, with the marked one.
      class Rows
        # What is in order: the first of many rows, and all of them where somebody goes there.
        class Order
          # Rows that a screen shows, and some pages more.
          HEAD = 500

          # keys: Procs; where rows are equal by the first, the next decides.
          def initialize(rows, *keys)
            @rows = rows
            @keys = keys
          end

          def size
            @rows.size
          end

          def [](index)
            index < head.size ? head[index] : all[index]
          end

          def first(count)
            count <= head.size ? head.first(count) : all.first(count)
          end

          # From place `from` on, at most `count`.
          def part(from, count)
            first(from + count)[from..] || []
          end

          # Place of the row of that name, or nil.
          def place(name)
            head.index { |row| row.name == name } || all.index { |row| row.name == name }
          end

          def all
            @all ||= sort(@rows, *@keys)
          end

          private

          def head
            @head ||= @rows.size > HEAD ? sort(candidates, *@keys).first(HEAD) : all
          end

          # All but those that are surely behind.
          def candidates
            keys = @rows.map(&@keys.first)
            last = keys.min(HEAD).last
            @rows.select.with_index { |_, index| keys[index] <= last }
          end

          def sort(rows, key, *others)
            keys = rows.map(&key)
            order = keys.each_index.sort_by { |index| keys[index] }
            return order.map { |index| rows[index] } if others.empty?

            runs = order.chunk_while { |one, other| keys[one] == keys[other] }
            runs.flat_map { |same| same.size == 1 ? rows[same.first] : sort(same.map { |index| rows[index] }, *others) }
          end
        end

        attr_reader :order

        # view: View; rows: of Top::Activity or Top::Fleet. order: of the same rows for the same View, where that is
        # known.
        def initialize(view, rows, order = nil)
          @view = view
          @order = order || order_of(rows)
        end

        # All of them, in order.
        def all
          @order.all
        end

        def size
          @order.size
        end

        # The first `count` of them.
        def first(count)
          @order.first(count)
        end

        # Place of the marked row; the first where it has gone.
        def index
          @index ||= (@view.cursor && @order.place(@view.cursor.first)) || 0
        end

        # The marked row; nil where there is none.
        def current
          @order[index]
        end

        # The row that is `step` below the marked one (above: negative), or the last there is.
        def at(step)
          @order[(index + step).clamp(0, [size - 1, 0].max)]
        end

        # [rows, place of the marked one among them]: as many as `height` holds, the marked one in the middle.
        def around(height)
          first = (index - (height / 2)).clamp(0, [size - height, 0].max)
          [@order.part(first, height), index - first]
        end

        private

        # The largest first; a pid is a name and not a size.
        def order_of(rows)
          column = Columns.fetch(@view.page, @view.sort_key) || Columns.of(@view.page).first
          return rows.order(column.key, @view.pattern) if rows.respond_to?(:order)

          value = column.key == :pid ? column.method(:value) : ->(row) { -(column.value(row) || 0) }
          Order.new(rows.select { |row| match?(row) }, value, ->(row) { -row.live_bytes }, ->(row) { row.name.to_s.b })
        end

        def match?(row)
          return true if @view.pattern.nil? || @view.pattern.empty?

          @wanted ||= Inert.valid(@view.pattern).downcase
          texts(row).any? { |text| Inert.valid(text).downcase.include?(@wanted) }
        end

        def texts(row)
          return [row.name.to_s, row.command] if @view.page == :processes

          place = row.location
          [row.name, place.label, place.library, place.gem, row.tag, place.to_s].compact
        end
      end
    end
  end
end
