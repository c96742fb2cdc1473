# frozen_string_literal: true

require_relative "../sparkline"
require_relative "../object_table"
require_relative "columns"
require_relative "detail"
require_relative "help"
require_relative "process_table"

module Heapline
  module Format
    class Screen
      # What stands between header and footer: a table, one site in detail, or the keys.
      class Body
        SPARK = 8
        MARK = "> "
        # What the last column is called where that is not the group.
        NAMES = { object: "location" }.freeze

        def initialize(view, scene, rows, terminal)
          @view = view
          @scene = scene
          @rows = rows
          @terminal = terminal
        end

        def lines(height)
          return Help.lines(@view.page, @terminal).first(height) if @view.help
          return Detail.new(@scene, @rows.current, @terminal).lines if @view.page == :detail

          table(height)
        end

        # The first `count` rows, without a mark.
        def plain(count)
          @rows.all.empty? ? [nothing] : table_of(@rows.all.first(count)).lines
        end

        private

        def nothing
          return "  Ruby objects are not accounted here: start it with heapline --objects" if objects? && !accounted?

          @view.pattern ? "  nothing matches the filter" : "  nothing was counted yet"
        end

        def table(height)
          shown, marked = @rows.around([height - 1, 0].max)
          return [nothing] if shown.empty?

          heading, *lines = table_of(shown).lines
          lines[marked] = mark(lines[marked])
          [heading, *lines]
        end

        # The sign in the margin tells it without colours, too.
        def mark(line)
          plain = MARK + line.gsub(DisplayWidth::STYLE, "").delete_prefix("  ")
          @terminal.color? ? @terminal.style(DisplayWidth.fill(plain, @terminal.width), :reverse) : plain
        end

        def table_of(shown)
          options = { sort: @view.sort_key, terminal: @terminal, dispensable: Columns::LEAST }
          return ProcessTable.new(shown, columns: Columns::PROCESSES, **options) if @view.page == :processes

          options.merge!(directory: @scene.directory, name: NAMES.fetch(@view.by, @view.by.to_s))
          return Table.new(shown, columns: [*Columns::SITES, trend], **options) unless objects?

          ObjectTable.new(shown, columns: [*Columns::OBJECTS, trend], named: @view.by == :object, **options)
        end

        def objects?
          @view.objects?
        end

        def accounted?
          @scene.watch.now.snapshots.any?(&:objects)
        end

        def trend
          text = ->(row) { Sparkline.text(values(row), width: SPARK, unicode: @terminal.unicode?).ljust(SPARK) }
          Columns::Column.new(:trend, "trend".ljust(SPARK), :itself, text, SPARK)
        end

        def values(row)
          @scene.watch.trend([@view.by, @view.within], row)&.values || []
        end
      end
    end
  end
end
