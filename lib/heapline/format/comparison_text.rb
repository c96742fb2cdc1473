# frozen_string_literal: true

require_relative "comparison_columns"
require_relative "selection"
require_relative "table"
require_relative "wrap"

module Heapline
  module Format
    # A Model::Comparison for people: the two snapshots, what lies between them, and what grew.
    class ComparisonText
      # top: rows (0: all). sort: a key of ComparisonColumns. min: least bytes of growth or live of a row. by: nil, or
      # :gem, :file, :library, :tag. directory: paths in it are shown relative to it.
      def initialize(top: 20, sort: :growth, min: 0, by: nil, directory: nil, env: ENV)
        @column = ComparisonColumns.fetch(sort)
        @selection = Selection.new(top: top, sort: @column.figure, min: min)
        @by = by
        @directory = directory
        @env = env
      end

      # Write the comparison to `io`.
      def render(comparison, io)
        @terminal = Terminal.new(io, @env)
        blocks = [[@terminal.style("heapline diff", :bold), *sides(comparison), *between(comparison)],
                  table(comparison)]
        io.write("#{blocks.map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def sides(comparison)
        { "before" => comparison.before, "after " => comparison.after }.flat_map do |name, snapshot|
          parts = ["#{name}  #{command(snapshot)}", snapshot.pid && "pid #{snapshot.pid}", time(snapshot),
                   "live #{Units.bytes(snapshot.live_bytes)}"]
          parts << "#{Units.count(snapshot.live_blocks)} blocks" if snapshot.live_blocks.positive?
          Wrap.parts(parts.compact, @terminal, indent: "        ").map { |line| "  #{line}" }
        end
      end

      def command(snapshot)
        text = @terminal.inert(snapshot.command&.join(" "))
        limit = @terminal.width / 2
        text.length > limit ? text[0, limit] + @terminal.sign("…") : text
      end

      def time(snapshot)
        (snapshot.ended_at || snapshot.taken_at)&.getlocal&.strftime("%Y-%m-%d %H:%M:%S")
      end

      def between(comparison)
        growth = comparison.after.live_bytes - comparison.before.live_bytes
        parts = ["growth #{Units.bytes(growth)}", apart(comparison),
                 comparison.same_process? ? meanwhile(comparison) : "two processes: paths are compared across deploys"]
        Wrap.parts(parts.compact, @terminal).map { |line| "  #{line}" }
      end

      def apart(comparison)
        "#{Units.duration(comparison.seconds.abs)} apart" if comparison.seconds
      end

      def meanwhile(comparison)
        bytes = comparison.after.bytes_allocated - comparison.before.bytes_allocated
        calls = comparison.after.allocations - comparison.before.allocations
        "allocated #{Units.bytes(bytes)} in #{Units.count(calls)} calls meanwhile"
      end

      def table(comparison)
        all = @selection.large(comparison.sums(@by || :location))
        return ["  nothing differs"] if all.empty?

        rows = @selection.of(all)
        telling = rows.reject { |row| @column.value(row).zero? }
        rows = telling unless telling.empty? || @selection.top.zero?
        lines = Table.new(rows, sort: @column.key, terminal: @terminal, directory: @directory, columns: columns(all),
                                dispensable: ComparisonColumns::LEAST).lines
        [*lines, *summary(all, rows)]
      end

      # A growth log knows of no calls: columns without any figure are left out.
      def columns(rows)
        ComparisonColumns::ALL.reject do |column|
          ComparisonColumns::LEAST.include?(column.key) && column.key != @column.key &&
            rows.all? { |row| column.value(row).zero? }
        end
      end

      def summary(all, shown)
        what = "#{@by ? "group" : "site"}#{"s" if all.size != 1}"
        grown, shrunk = all.map(&:growth_bytes).reject(&:zero?).partition(&:positive?)
        parts = ["#{Units.count(all.size)} #{what} with a difference: #{Units.count(grown.size)} grew by " \
                 "#{Units.bytes(grown.sum)}", "#{Units.count(shrunk.size)} shrank by #{Units.bytes(-shrunk.sum)}",
                 "#{Units.count(shown.size)} shown#{"; all: --top 0" if shown.size < all.size}"]
        Wrap.parts(parts, @terminal).map { |line| "  #{@terminal.style(line, :dim)}" }
      end
    end
  end
end
