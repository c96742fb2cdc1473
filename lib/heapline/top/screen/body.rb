# frozen_string_literal: true

require_relative "../../terminal/sparkline"
require_relative "../../objects/class_rows"
require_relative "../../table/grid"
require_relative "columns"
require_relative "detail"

module Heapline
  module Top
    class Screen
      # Processes as aligned lines: figures right, command last.
      class ProcessTable < Table::Grid
        def initialize(rows, **options)
          super(rows, name: "command", **options)
        end

        private

        def cell(row)
          state = row.stopped ? "#{@terminal.style("stopped", :red)}  " : ""
          "#{state}#{@terminal.inert(row.command)}"
        end
      end

      # The keys.
      module Help
        COMMON = [
          ["up down", "choose a row; also j k PgUp PgDn Home End"],
          ["Enter Esc", "open the row; go back"],
          ["/", "filter: only rows that contain a text"],
          ["space", "pause, go on"],
          ["b", "growth counts from now on"],
          ["B", "growth counts from the process's own baseline again"],
          ["q", "quit"]
        ].freeze
        SITES = [
          ["g l n r", "sort by growth, live, growth a second (live/s), alloc rate"],
          ["c t a", "sort by count of blocks, temporary share, age (life)"],
          ["1 2 3 4 5", "by line, gem, file, library, tag"],
          ["1 again", "what start-up and loading took, too, by line"],
          ["o", "Ruby objects by class; again: memory by line"],
          ["m", "with or without the processes that were forked from it"]
        ].freeze
        PROCESSES = [
          ["p s g", "sort by pid, size (RSS), growth"],
          ["l n r", "sort by live, growth a second (live/s), alloc rate"]
        ].freeze

        TERMS = [
          "Rates are over the last 5 to 10 seconds. live/s is the part of alloc/s that",
          "stays. temp: how many of the freed blocks died within two GC generations,",
          "or within two tenths of a second where there is no Ruby.",
          "Any key goes back."
        ].freeze

        # page: of the View.
        def self.lines(page, terminal)
          keys = (page == :processes ? PROCESSES : SITES) + COMMON
          width = keys.map { |names, _| names.length }.max
          keys = keys.map { |names, what| "  #{terminal.style(names.ljust(width), :bold)}  #{what}" }
          [*keys, "", *TERMS.map { |line| "  #{line}" }]
        end
      end

      # What stands between header and footer: a table, one site in detail, or the keys.
      class Body
        SPARK = 8
        MARK = "> "
        # What the last column is called where that is not the group.
        NAMES = { overview: "location", object: "location" }.freeze

        def initialize(view, scene, rows, terminal)
          @view = view
          @scene = scene
          @rows = rows
          @terminal = terminal
        end

        def lines(height)
          return Help.lines(@view.page, @terminal).first(height) if @view.help
          return table(height) unless @view.page == :detail

          Detail.new(@scene, @scene.named([@rows.current].compact).first, @terminal).lines
        end

        # The first `count` rows (0: all), without a mark.
        def plain(count)
          return [nothing] unless @rows.current

          table_of(@scene.named(count.zero? ? @rows.all : @rows.first(count))).lines
        end

        private

        def nothing
          return no_objects if objects? && !accounted?

          @view.pattern ? "  nothing matches the filter" : "  nothing was counted yet"
        end

        def no_objects
          return "  there are no Ruby objects: no Ruby runs in it" unless ruby?

          "  Ruby objects are not counted here: start the program with heapline --objects"
        end

        def table(height)
          shown, marked = @rows.around([height - 1, 0].max)
          return [nothing] if shown.empty?

          heading, *lines = table_of(@scene.named(shown)).lines
          lines[marked] = mark(lines[marked])
          [heading, *lines]
        end

        # The sign in the margin tells it without colours, too.
        def mark(line)
          plain = MARK + line.gsub(Terminal::DisplayWidth::STYLE, "").delete_prefix("  ")
          @terminal.color? ? @terminal.style(Terminal::DisplayWidth.fill(plain, @terminal.width), :reverse) : plain
        end

        def table_of(shown)
          options = { sort: @view.sort_key, terminal: @terminal, dispensable: Columns::LEAST }
          return ProcessTable.new(shown, columns: Columns::PROCESSES, **options) if @view.page == :processes

          options.merge!(directory: @scene.directory, name: NAMES.fetch(@view.by, @view.by.to_s))
          return Table::Rows.new(shown, columns: columns, **options) unless objects?

          Objects::ClassRows.new(shown, columns: [*Columns::OBJECTS, trend], named: @view.by == :object, **options)
        end

        def columns
          [*Columns.of_sites(@view.sort_key, gcs: ruby?), trend]
        end

        def ruby?
          @scene.watch.now.root.ruby?
        end

        def objects?
          @view.objects?
        end

        def accounted?
          @scene.watch.now.snapshots.any?(&:objects)
        end

        def trend
          text = lambda { |row|
            Terminal::Sparkline.text(values(row), width: SPARK, unicode: @terminal.unicode?).ljust(SPARK)
          }
          Columns::Column.new(key: :trend, title: "trend".ljust(SPARK), figure: :itself, words: text, least: SPARK)
        end

        def values(row)
          @scene.watch.trend([@view.by, @view.within], row)&.values || []
        end
      end
    end
  end
end
