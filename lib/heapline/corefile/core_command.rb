# frozen_string_literal: true

require_relative "../command/base"
require_relative "../figures/columns"
require_relative "../table/sheet_text"
require_relative "../table/json_object"
require_relative "core_file"

module Heapline
  # @api private
  module Corefile
    # `heapline core FILE`: what a dead process held, by line.
    class CoreCommand < Command::Base
      USAGE_LINE = "core [options] FILE"
      SUMMARY = "Show which lines held the memory of a process that left a core file"
      COLUMNS = [Figures::Columns::Column.new(key: :live_bytes, title: "live", figure: :live_bytes, unit: :bytes),
                 Figures::Columns::Column.new(key: :live_blocks, title: "blocks", figure: :live_blocks,
                                              unit: :count)].freeze

      def call(argv)
        path, *others = parse(argv)
        raise UsageError, "which core file?" unless path
        raise UsageError, "one core file at a time, not also #{others.join(" ")}" unless others.empty?

        core = CoreFile.new(path, flight: @options[:flight])
        sheet = sheet(path, core)
        renderer.render(sheet, @out)
        sheet.problems.empty? ? Command::OK : Command::FOUND
      end

      private

      def define(parser)
        define_top(parser)
        define_format(parser, %w[text json])
        parser.on("--flight FILE", "its flight file, where that is not where it was") do |file|
          @options[:flight] = file
        end
      end

      def renderer
        return Table::SheetJson.new(read: :cores) if json?

        Table::SheetText.new(directory: Command.here, env: @env)
      end

      def sheet(path, core)
        Table::Sheet.new(kind: :core, title: "heapline core", dumps: [about(path, core.facts)],
                         parts: [totals(core.rows), listing(core.rows)], problems: core.problems)
      end

      def about(path, facts)
        threads = "#{Units.count(facts[:threads])} thread#{"s" if facts[:threads] != 1}"
        Table::Dump.new(name: path, facts: [facts[:command], "pid #{facts[:pid]}", threads].compact,
                        data: { file: path, **facts.slice(:pid, :threads, :command) })
      end

      def totals(rows)
        bytes, blocks = %i[live_bytes live_blocks].map { |name| rows.sum(&name) }
        Table::Statement.new(key: :totals, data: { live_bytes: bytes, live_blocks: blocks },
                             parts: ["#{Units.bytes(bytes)} live in #{Units.count(blocks)} blocks"])
      end

      def listing(rows)
        top = @options.fetch(:top, 20)
        large = rows.sort_by { |row| [-row.live_bytes, row.location.to_s.b] }
        Table::Listing.new(key: :sites, title: "Lines", rows: top.zero? ? large : large.first(top), total: rows.size,
                           columns: COLUMNS, sorted: :live_bytes, name: "location",
                           label: ->(row) { Table::Label.new(place: row.location.to_s) },
                           data: ->(row) { { location: row.location.to_s } })
      end
    end
  end
end
