# frozen_string_literal: true

require "delegate"
require_relative "../figures/units"
require_relative "../processes/ledger"
require_relative "history"
require_relative "../table/grid"
require_relative "../terminal/output"
require_relative "../terminal/sparkline"

module Heapline
  module Growth
    # A Growth::History as text that fits the terminal: what the processes' memory did, the sites that grow and their
    # verdicts, what was passed over in the log.
    class Text
      # A Growth::Series in a table of sites.
      class Row < SimpleDelegator
        def location
          place
        end
      end
      SPARK = 16

      def self.column(key, title, unit, figure)
        Figures::Columns::Column.new(key: key, title: title, figure: figure, unit: unit)
      end

      def self.interval(series)
        return "?" unless series.slope_low

        "#{Units.signed(series.slope_low)} to #{Units.signed(series.slope_high)}"
      end

      # How much a process's own figure changes in an hour: a range where it is not sure to grow or to shrink.
      def self.change(series)
        sure?(series) ? Units.signed(series.slope_bytes_per_hour) : interval(series)
      end

      def self.sure?(series)
        low = series.slope_low
        high = series.slope_high
        low && (low.positive? || high.negative? || low == high)
      end

      # Array of Strings: what was not taken from the log, and what did not fit.
      def self.notes(growth)
        counted = NOTES.filter_map do |key, words|
          plural(growth.counts[key], *words) if growth.counts[key].to_i.positive?
        end
        dropped = growth.processes.sum(&:dropped_lines)
        gaps = growth.processes.sum(&:gaps)
        counted << "#{plural(dropped, "line")} could not be written in time" if dropped.positive?
        counted << "lines are missing in #{plural(gaps, "place")}" if gaps.positive?
        counted
      end

      def self.plural(count, one, many = "#{one}s")
        "#{Units.count(count)} #{count == 1 ? one : many}"
      end
      private_class_method :column

      growth, *others = History::FIGURES
      COLUMNS = [
        column(:verdict, "verdict", :name, :verdict),
        column(:slope, "an hour", :growth, :slope_bytes_per_hour),
        column(:interval, "99 % interval", :name, method(:interval)),
        Figures::Columns::Column.new(**growth.to_h, unit: :growth), *others,
        column(:processes, "in", :count, :processes)
      ].freeze
      # What goes first where the screen is narrow.
      LEAST = %i[rate processes live interval growth trend].freeze
      # What is said of lines that were not taken, and of what did not fit: of one, and of several.
      NOTES = {
        damaged: ["damaged or torn line was skipped", "damaged or torn lines were skipped"],
        foreign: ["line is not from a growth log", "lines are not from a growth log"],
        other_version: ["line is of another version of heapline", "lines are of another version of heapline"],
        repeated: ["line repeats another or comes before it", "lines repeat others or come before them"],
        clock_jumps: %w[time times].map { |times| "#{times} the clock was set; elapsed_s was used instead" },
        series_given_up: %w[is are].map do |are|
          "series (a site in a process) #{are} in no row, there are too many: " \
            "read fewer files, or a shorter time (--since)"
        end,
        processes_refused: ["line is of more processes than are kept", "lines are of more processes than are kept"],
        strings_refused: ["name was left out: there are too many", "names were left out: there are too many"]
      }.freeze
      MEANING = { leak: "keeps growing across GC generations", cache: "grew, and stopped", bloat: "one step",
                  churn: "dies young, and much of it", steady: "does not grow" }.freeze
      # Needs that are told of those that are unsure.
      NEEDS = 3

      # top: rows (0: all); sort: :slope, :growth, :live or :rate; directory: paths below it are shown relative to it;
      # problems: Array of Strings, files that could not be read.
      def initialize(top: 20, sort: :slope, directory: nil, problems: [], env: ENV)
        @top = top
        @sort = sort
        @directory = directory
        @problems = problems
        @env = env
      end

      def render(growth, io)
        @terminal = Terminal::Output.new(io, @env)
        lines = [*heading(growth), "", *memory(growth), *table(growth), "", *notes(growth)]
        lines.each { |line| io.puts line }
      end

      private

      def heading(growth)
        processes = growth.processes
        hosts = processes.map(&:host).uniq.size
        parts = [plural(growth.counts[:taken], "line"), plural(processes.size, "process", "processes")]
        parts << "#{hosts} hosts" if hosts > 1
        if growth.duration
          parts << Units.duration(growth.duration)
          parts << "#{time(growth.first_at)} to #{time(growth.last_at)} UTC"
        end
        first, *rest = @terminal.wrap(parts)
        ["#{@terminal.style("heapline growth", :bold)}  #{first}", *rest]
      end

      # What the process's own figures did, the largest first; only those that the log has.
      def memory(growth)
        shown = growth.memory.values.reject { |one| one.location == "pss" }
        return [] if shown.empty?

        ends, parts = shown.partition { |one| History::MEMORY.include?(one.location) }
        parts = parts.select { |one| one.slope_low&.positive? }.max_by(4, &:slope_bytes_per_hour)
        first, *others = ends + parts
        text = [pace(first), *others.map { |one| "#{name(one)} #{Text.change(one)}" }]
        [*@terminal.wrap(text, indent: "  ").map { |line| "  #{line}" }, *outside(growth), ""]
      end

      def pace(one)
        slope = one.slope_bytes_per_hour
        verb = slope.negative? ? "shrinks" : "grows"
        change = Text.sure?(one) ? "#{verb} by #{Units.bytes(slope.abs.round)}" : "changes by #{Text.interval(one)}"
        "#{name(one)} #{change} an hour in each process"
      end

      # As `heapline rss` calls it.
      def name(one)
        return "RSS" if one.location == "rss"

        Processes::Ledger::NAMES.fetch(one.location.to_sym) { @terminal.inert(one.location.tr("_", " ")) }
      end

      # RSS that surely grows beside all sites is not the application's to free. The slopes may be of different times
      # (of a cache since it is full), so it must have grown more over the whole log, too.
      def outside(growth)
        rss, live = growth.memory.values_at(*History::MEMORY)
        return [] unless rss&.slope_low&.positive? && live&.slope_high && live.slope_high < rss.slope_low
        return [] if live.growth_bytes > rss.growth_bytes / 2

        ["  RSS grows faster than malloc live. The difference is memory that was freed and is held (fragmentation),",
         "  pages of Ruby's objects or stacks: heapline rss PID shows which"]
      end

      def table(growth)
        rows = growth.sorted(@sort).map { |series| Row.new(series) }
        shown = @top.zero? ? rows : rows.first(@top)
        return ["  the log has no site"] if rows.empty?

        table = Table::Rows.new(shown, sort: @sort, terminal: @terminal, directory: @directory,
                                       columns: [*COLUMNS, trend], dispensable: LEAST)
        [*table.lines, summary(growth, shown)]
      end

      def trend
        words = lambda { |row|
          Terminal::Sparkline.text(row.points.map(&:last), width: SPARK, unicode: @terminal.unicode?)
        }
        Figures::Columns::Column.new(key: :trend, title: "trend", figure: ->(_) { 0 }, words: words)
      end

      def summary(growth, shown)
        all = growth.series
        found = MEANING.keys.filter_map do |verdict|
          count = growth.with_verdict(verdict).size
          "#{Units.count(count)} #{verdict} (#{MEANING[verdict]})" if count.positive?
        end
        found << unsure(growth.with_verdict(:unsure)) unless growth.with_verdict(:unsure).empty?
        parts = @terminal.wrap(
          [*found, "#{Units.count(shown.size)} of #{Units.count(all.size)} shown"]
        )
        parts.map { |line| "  #{@terminal.style(line, :dim)}" }.join("\n")
      end

      def unsure(series)
        needs = series.map(&:needs).tally.sort_by { |need, count| [-count, need] }.map(&:first)
        "#{Units.count(series.size)} unsure (needs #{needs.first(NEEDS).join("; or ")})"
      end

      def notes(growth)
        (Text.notes(growth) + @problems).map do |text|
          "  #{@terminal.style("note", :red)}  #{@terminal.inert(text)}"
        end
      end

      def plural(*words)
        Text.plural(*words)
      end

      def time(time)
        time.getutc.strftime("%Y-%m-%d %H:%M")
      end
    end
  end
end
