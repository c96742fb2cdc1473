# frozen_string_literal: true

require_relative "../figures/units"
require_relative "../table/grid"
require_relative "../terminal/output"
require_relative "text"

module Heapline
  module Growth
    # A Growth::Comparison as text that fits the terminal: the two logs, and the sites whose growth changed.
    class ComparisonText
      def self.verdicts(change)
        [change.before, change.after].map { |series| series ? series.verdict.to_s : "-" }.uniq.join(" to ")
      end

      COLUMNS = [
        [:direction, "", :direction, :name], [:change, "change an hour", :change, :growth],
        [:before, "before", :before_rate, :growth], [:after, "after", :after_rate, :growth],
        [:verdict, "verdict", method(:verdicts), :name], [:live, "live", :live_bytes, :bytes]
      ].map do |key, title, figure, unit|
        Figures::Columns::Column.new(key: key, title: title, figure: figure, unit: unit)
      end.freeze
      private_class_method :verdicts
      # What goes first where the screen is narrow.
      LEAST = %i[live verdict before].freeze
      MEANING = { faster: "grow faster", slower: "grow slower", unsure: "unsure, too few lines",
                  same: "as before" }.freeze

      # top: rows (0: all, also those that are as before); directory: paths below it are shown relative to it.
      def initialize(top: 20, directory: nil, env: ENV)
        @top = top
        @directory = directory
        @env = env
      end

      # Write the comparison to `io`.
      def render(comparison, io)
        @terminal = Terminal::Output.new(io, @env)
        title = "#{@terminal.style("heapline diff", :bold)}  two growth logs: how much each process grew in an hour"
        sides = { "before" => comparison.before, "after " => comparison.after }
        lines = [title, *sides.flat_map { |name, growth| side(name, growth) }, "", *table(comparison),
                 *sides.flat_map { |name, growth| notes(name, growth) }]
        io.write("#{lines.join("\n")}\n")
      end

      private

      def side(name, growth)
        lines = growth.processes.sum(&:lines)
        parts = ["#{name}  #{@terminal.inert(growth.processes.first.command.to_s)}",
                 "#{Units.count(growth.processes.size)} process#{"es" if growth.processes.size > 1}",
                 "#{Units.count(lines)} lines in #{Units.duration(growth.duration)}", *memory(growth)]
        @terminal.wrap(parts, indent: "        ").map { |line| "  #{line}" }
      end

      def memory(growth)
        { "RSS" => "rss", "malloc live" => "malloc_live" }.filter_map do |name, key|
          series = growth.memory[key]
          "#{name} #{Text.change(series)}" if series
        end
      end

      def notes(name, growth)
        Text.notes(growth).map { |text| "  #{@terminal.style("note", :red)}  #{name}  #{text}" }
      end

      def table(comparison)
        all = comparison.changes
        shown = @top.zero? ? all : all.reject { |change| change.direction == :same }.first(@top)
        return ["  every line grows as before", *summary(comparison, 0)] if shown.empty?

        table = Table::Rows.new(shown, sort: :change, terminal: @terminal, directory: @directory, columns: COLUMNS,
                                       dispensable: LEAST)
        [*table.lines, *summary(comparison, shown.size)]
      end

      def summary(comparison, shown)
        counts = MEANING.keys.filter_map do |direction|
          count = comparison.of(direction).size
          "#{Units.count(count)} #{MEANING[direction]}" if count.positive?
        end
        counts << "#{Units.count(shown)} shown#{"; all: --top 0" if shown < comparison.changes.size}"
        @terminal.wrap(counts).map { |line| "  #{@terminal.style(line, :dim)}" }
      end
    end
  end
end
