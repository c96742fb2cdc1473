# frozen_string_literal: true

require_relative "growth_columns"
require_relative "table"
require_relative "terminal"
require_relative "wrap"

module Heapline
  module Format
    # A Model::Growth as text that fits the terminal: what the processes' memory did, the sites that grow and their
    # verdicts, what was passed over in the log.
    class GrowthText
      Row = Struct.new(:series, :location, :tag, :unicode, keyword_init: true)
      # What is said of lines that were not taken, and of what did not fit.
      NOTES = {
        damaged: "damaged or torn lines were passed over", foreign: "lines are not of this log",
        repeated: "lines repeat others or lie before them", clock_jumps: "times the clock was set; elapsed_s counted",
        series_given_up: "series that moved least were given up: too many sites in too many processes",
        processes_refused: "lines are of more processes than are kept",
        strings_refused: "names did not fit"
      }.freeze
      MEANING = { leak: "keeps growing across GC generations", cache: "grew, and stopped", bloat: "one step",
                  churn: "dies young, and much of it", steady: "does not grow" }.freeze

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
        @terminal = Terminal.new(io, @env)
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
        first, *rest = Wrap.parts(parts, @terminal)
        ["#{@terminal.style("heapline growth", :bold)}  #{first}", *rest]
      end

      # What the process's own figures did, the largest first; only those that the log has.
      def memory(growth)
        shown = growth.memory.values.reject { |one| one.location == "pss" }
        return [] if shown.empty?

        ends, parts = shown.partition { |one| Model::Growth::MEMORY.include?(one.location) }
        parts = parts.select { |one| one.slope_low&.positive? }.max_by(4, &:slope_bytes_per_hour)
        text = (ends + parts).map { |one| "#{name(one)} #{GrowthColumns.signed(one.slope_bytes_per_hour)}" }
        ["  an hour, in each process: #{Wrap.parts(text, @terminal, indent: "    ").join("\n")}",
         *outside(growth), ""]
      end

      def name(one)
        one.location == "rss" ? "RSS" : @terminal.inert(one.location.tr("_", " "))
      end

      # RSS that grows beside all sites is not the application's to free.
      def outside(growth)
        rss, live = growth.memory.values_at(*Model::Growth::MEMORY)
        return [] unless rss && live && rss.slope_low&.positive?
        return [] if live.slope_bytes_per_hour > rss.slope_bytes_per_hour / 2

        ["  what grows is not what malloc gave out, but memory that is freed and held (fragmentation), object pages or",
         "  stacks: heapline rss PID shows which"]
      end

      def table(growth)
        rows = GrowthColumns.sort(growth, @sort).map { |series| row(series) }
        shown = @top.zero? ? rows : rows.first(@top)
        return ["  no site is in the log"] if rows.empty?

        table = Table.new(shown, sort: @sort, terminal: @terminal, directory: @directory,
                                 columns: GrowthColumns::ALL, dispensable: GrowthColumns::LEAST)
        [*table.lines, summary(growth, shown)]
      end

      def row(series)
        Row.new(series: series, location: series.place, tag: series.tag, unicode: @terminal.unicode?)
      end

      def summary(growth, shown)
        all = growth.series
        found = MEANING.keys.filter_map do |verdict|
          count = growth.with_verdict(verdict).size
          "#{Units.count(count)} #{verdict} (#{MEANING[verdict]})" if count.positive?
        end
        parts = Wrap.parts([*found, "#{Units.count(shown.size)} of #{Units.count(all.size)} shown"], @terminal)
        parts.map { |line| "  #{@terminal.style(line, :dim)}" }.join("\n")
      end

      def notes(growth)
        counted = NOTES.filter_map do |key, words|
          "#{Units.count(growth.counts[key])} #{words}" if growth.counts[key].to_i.positive?
        end
        (counted + lost(growth) + @problems).map do |text|
          "  #{@terminal.style("note", :red)}  #{@terminal.inert(text)}"
        end
      end

      def lost(growth)
        dropped = growth.processes.sum(&:dropped_lines)
        gaps = growth.processes.sum(&:gaps)
        texts = []
        texts << "#{Units.count(dropped)} lines could not be written when they were due" if dropped.positive?
        texts << "lines are missing in #{plural(gaps, "place")}" if gaps.positive?
        texts
      end

      def plural(count, one, many = "#{one}s")
        "#{Units.count(count)} #{count == 1 ? one : many}"
      end

      def time(time)
        time.getutc.strftime("%Y-%m-%d %H:%M")
      end
    end
  end
end
