# frozen_string_literal: true

require_relative "comparison"
require_relative "../terminal/display_width"
require_relative "../terminal/output"
require_relative "../objects/class_rows"
require_relative "../table/selection"

module Heapline
  module Accounting
    # An Accounting::Comparison for people: the two snapshots, what lies between them, and what grew.
    class ComparisonText
      # top: rows (0: all). sort: a key of ChangeColumns. min: least bytes of growth or live of a row. by: nil, or
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
        @terminal = Terminal::Output.new(io, @env)
        blocks = [[@terminal.style("heapline diff", :bold), *sides(comparison), *between(comparison)],
                  table(comparison), objects(comparison)].reject(&:empty?)
        io.write("#{blocks.map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def sides(comparison)
        { "before" => comparison.before, "after " => comparison.after }.flat_map do |name, snapshot|
          first, *rest = side(snapshot).compact
          @terminal.wrap(["#{name}  #{first}", *rest], indent: "        ").map { |line| "  #{line}" }
        end
      end

      # A JSON report may have been written without its command.
      def side(snapshot)
        [snapshot.command && command(snapshot), snapshot.pid && "pid #{snapshot.pid}", time(snapshot),
         "live #{Units.bytes(snapshot.live_bytes)}",
         snapshot.live_blocks.positive? ? "#{Units.count(snapshot.live_blocks)} blocks" : nil]
      end

      def command(snapshot)
        Terminal::DisplayWidth.first(@terminal.inert(snapshot.command.join(" ")), @terminal.width / 2,
                                     sign: @terminal.sign("…"))
      end

      def time(snapshot)
        (snapshot.ended_at || snapshot.taken_at)&.getlocal&.strftime("%Y-%m-%d %H:%M:%S")
      end

      def between(comparison)
        growth = comparison.after.live_bytes - comparison.before.live_bytes
        parts = ["growth #{Units.bytes(growth)}", apart(comparison),
                 comparison.same_process? ? meanwhile(comparison) : "two processes: paths are compared across deploys"]
        @terminal.wrap(parts.compact).map { |line| "  #{line}" }
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

        columns = comparison.calls? ? ChangeColumns::ALL : ChangeColumns::BYTES
        ComparisonTable.new(@terminal, ChangeColumns.fetch(@sort), columns: columns, **@shown)
                       .lines(comparison.sums(@by || :location))
      end

      def objects(comparison)
        return [] if comparison.objects.nil? || @by == :library

        column = ChangeColumns.of_objects(@sort)
        table = ComparisonTable.new(@terminal, column, columns: ChangeColumns::OBJECTS, named: @by.nil?, **@shown)
        ["  #{@terminal.style("objects", :bold)}", "", *table.lines(comparison.objects.sums(@by || :site))]
      end
    end

    # The changes of an Accounting::Comparison as a table, and what they come to.
    class ComparisonTable
      # column: the one of `columns` that is sorted. top, min, by, directory: as for ComparisonText. named: are the rows
      # of one class of objects each?
      def initialize(terminal, column, columns:, top:, min:, by:, directory:, named: false)
        @terminal = terminal
        @column = column
        @columns = columns
        @selection = Table::Selection.new(top: top, sort: column.figure, min: min)
        @by = by
        @options = { directory: directory, named: named, name: named || by.nil? ? "location" : by.to_s }
      end

      # rows: Array of Changes::Change.
      def lines(rows)
        listing = Table::TopRows.new(rows, column: @column, selection: @selection)
        return ["  nothing differs"] if listing.all.empty?

        table = Objects::ClassRows.new(listing.shown, sort: @column.key, terminal: @terminal,
                                                      columns: columns(listing.all), dispensable: ChangeColumns::LEAST,
                                                      **@options)
        [*table.lines, *summary(listing)]
      end

      private

      # A growth log knows of no calls: columns without any figure are left out.
      def columns(rows)
        @columns.reject do |column|
          ChangeColumns::LEAST.include?(column.key) && column.key != @column.key &&
            rows.all? { |row| column.value(row).zero? }
        end
      end

      def summary(listing)
        all = listing.all
        what = "#{@by ? "group" : "site"}#{"s" if all.size != 1}"
        grown, shrunk = all.map { |row| growth.value(row) }.reject(&:zero?).partition(&:positive?)
        parts = ["#{Units.count(all.size)} #{what} with a difference: #{Units.count(grown.size)} grew by " \
                 "#{growth.print(grown.sum)}",
                 "#{Units.count(shrunk.size)} shrank by #{growth.print(-shrunk.sum)}",
                 "#{Units.count(listing.shown.size)} shown#{"; all: --top 0" if listing.shown.size < all.size}"]
        @terminal.wrap(parts).map { |line| "  #{@terminal.style(line, :dim)}" }
      end

      def growth
        @columns.first
      end
    end
  end
end
