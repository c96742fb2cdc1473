# frozen_string_literal: true

require_relative "comparison_columns"
require_relative "comparison_table"
require_relative "terminal"
require_relative "wrap"

module Heapline
  module Format
    # A Model::Comparison for people: the two snapshots, what lies between them, and what grew.
    class ComparisonText
      # top: rows (0: all). sort: a key of ComparisonColumns. min: least bytes of growth or live of a row. by: nil, or
      # :gem, :file, :library, :tag, :class. objects: only the Ruby objects (by :class: always so). directory: paths in
      # it are shown relative to it.
      def initialize(top: 20, sort: :growth, min: 0, by: nil, objects: false, directory: nil, env: ENV)
        @sort = sort
        @by = by
        @objects = objects || by == :class
        @shown = { top: top, min: min, by: by, directory: directory }
        @env = env
      end

      # Write the comparison to `io`.
      def render(comparison, io)
        @terminal = Terminal.new(io, @env)
        blocks = [[@terminal.style("heapline diff", :bold), *sides(comparison), *between(comparison)],
                  table(comparison), objects(comparison)].reject(&:empty?)
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
        return [] if @objects

        ComparisonTable.new(@terminal, ComparisonColumns.fetch(@sort), columns: ComparisonColumns::ALL, **@shown)
                       .lines(comparison.sums(@by || :location))
      end

      def objects(comparison)
        return [] if comparison.objects.nil? || @by == :library

        column = ComparisonColumns.of_objects(@sort)
        table = ComparisonTable.new(@terminal, column, columns: ComparisonColumns::OBJECTS, named: @by.nil?, **@shown)
        ["  #{@terminal.style("objects", :bold)}", "", *table.lines(comparison.objects.sums(@by || :site))]
      end
    end
  end
end
