# frozen_string_literal: true

require_relative "growth_columns"
require_relative "table"
require_relative "terminal"
require_relative "wrap"

module Heapline
  module Format
    # A Model::GrowthComparison as text that fits the terminal: the two logs, and the sites whose growth changed.
    class GrowthComparisonText
      # A column of Format::Table: key, title, figure of Change that it shows; words: Proc from a Change to its text.
      Column = Struct.new(:key, :title, :figure, :words) do
        def value(change)
          change.public_send(figure)
        end

        def least
          0
        end

        def text(change)
          words.call(change)
        end
      end

      def self.rate(figure)
        ->(change) { GrowthColumns.signed(change.public_send(figure)) }
      end

      def self.verdicts(change)
        [change.before, change.after].map { |series| series ? series.verdict.to_s : "-" }.uniq.join(" to ")
      end
      private_class_method :rate, :verdicts

      COLUMNS = [
        Column.new(:direction, "", :change, ->(change) { change.direction.to_s }),
        Column.new(:change, "change an hour", :change, rate(:change)),
        Column.new(:before, "before", :before_rate, rate(:before_rate)),
        Column.new(:after, "after", :after_rate, rate(:after_rate)),
        Column.new(:verdict, "verdict", :change, method(:verdicts).to_proc),
        Column.new(:live, "live", :live_bytes, ->(change) { Units.bytes(change.live_bytes) })
      ].freeze
      # What goes first where the screen is narrow.
      LEAST = %i[live verdict before].freeze
      MEANING = { faster: "grow faster", slower: "grow slower", unsure: "cannot be told, too few lines",
                  same: "as before" }.freeze

      # top: rows (0: all, also those that are as before); directory: paths below it are shown relative to it.
      def initialize(top: 20, directory: nil, env: ENV)
        @top = top
        @directory = directory
        @env = env
      end

      # Write the comparison to `io`.
      def render(comparison, io)
        @terminal = Terminal.new(io, @env)
        title = "#{@terminal.style("heapline diff", :bold)}  two growth logs: bytes an hour, in each process"
        lines = [title, *side("before", comparison.before), *side("after ", comparison.after), "", *table(comparison)]
        io.write("#{lines.join("\n")}\n")
      end

      private

      def side(name, growth)
        lines = growth.processes.sum(&:lines)
        parts = ["#{name}  #{@terminal.inert(growth.processes.first.command.to_s)}",
                 "#{Units.count(growth.processes.size)} process#{"es" if growth.processes.size > 1}",
                 "#{Units.count(lines)} lines in #{Units.duration(growth.duration)}", *memory(growth)]
        Wrap.parts(parts, @terminal, indent: "        ").map { |line| "  #{line}" }
      end

      def memory(growth)
        { "RSS" => "rss", "malloc live" => "malloc_live" }.filter_map do |name, key|
          series = growth.memory[key]
          "#{name} #{GrowthColumns.signed(series.slope_bytes_per_hour)}" if series
        end
      end

      def table(comparison)
        all = comparison.changes
        shown = @top.zero? ? all : all.reject { |change| change.direction == :same }.first(@top)
        return ["  every line grows as before", *summary(comparison, 0)] if shown.empty?

        table = Table.new(shown, sort: :change, terminal: @terminal, directory: @directory, columns: COLUMNS,
                                 dispensable: LEAST)
        [*table.lines, *summary(comparison, shown.size)]
      end

      def summary(comparison, shown)
        counts = MEANING.keys.filter_map do |direction|
          count = comparison.of(direction).size
          "#{Units.count(count)} #{MEANING[direction]}" if count.positive?
        end
        counts << "#{Units.count(shown)} shown#{"; all: --top 0" if shown < comparison.changes.size}"
        Wrap.parts(counts, @terminal).map { |line| "  #{@terminal.style(line, :dim)}" }
      end
    end
  end
end
