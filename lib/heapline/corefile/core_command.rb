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
      SUMMARY = "Show what held the memory of a process that left a core file"
      COLUMNS = [Figures::Columns::Column.new(key: :live_bytes, title: "live", figure: :live_bytes, unit: :bytes),
                 Figures::Columns::Column.new(key: :live_blocks, title: "blocks", figure: :live_blocks,
                                              unit: :count)].freeze
      CLASS_COLUMNS = [Figures::Columns::Column.new(key: :object_bytes, title: "bytes", figure: :object_bytes,
                                                    unit: :bytes),
                       Figures::Columns::Column.new(key: :slot_bytes, title: "slots", figure: :slot_bytes,
                                                    unit: :bytes),
                       Figures::Columns::Column.new(key: :objects, title: "objects", figure: :objects,
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
                         parts: core.by_line? ? [totals(core.rows), listing(core.rows)] : ruby_parts(core),
                         problems: core.problems)
      end

      # Without heapline: what Ruby's own heap and glibc's arenas tell.
      def ruby_parts(core)
        threads = core.frames.group_by(&:thread).map { |number, frames| thread(number, frames) }
        [memory(core), classes(core.classes), *threads]
      end

      def memory(core)
        bytes, arenas = core.arena_bytes
        used, blocks = core.facts.values_at(:used_bytes, :used_blocks)
        Table::Statement.new(key: :memory, separator: " · ",
                             data: { arena_bytes: bytes, arenas: arenas, used_bytes: used, used_blocks: blocks },
                             parts: ["#{Units.bytes(bytes)} in glibc's arenas (#{Units.count(arenas)})",
                                     "#{Units.bytes(used)} in #{Units.count(blocks)} blocks in use or in caches",
                                     "#{Units.bytes([bytes - used, 0].max)} free"])
      end

      def classes(rows)
        large = rows.sort_by { |row| [-row.object_bytes, row.name.b] }
        Table::Listing.new(key: :classes, title: "Objects", rows: first_of(large), total: rows.size,
                           columns: CLASS_COLUMNS, sorted: :object_bytes, name: "class",
                           label: ->(row) { Table::Label.new(text: row.name) }, data: ->(row) { { class: row.name } })
      end

      def thread(number, frames)
        Table::Listing.new(key: :"thread_#{number}", title: "Thread #{number}", rows: first_of(frames),
                           total: frames.size, columns: [], name: "location",
                           label: ->(row) { Table::Label.new(place: row.location, text: row.label) },
                           data: ->(row) { { location: row.location, label: row.label } })
      end

      def first_of(rows)
        top = @options.fetch(:top, 20)
        top.zero? ? rows : rows.first(top)
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
        large = rows.sort_by { |row| [-row.live_bytes, row.location.to_s.b] }
        Table::Listing.new(key: :sites, title: "Lines", rows: first_of(large), total: rows.size,
                           columns: COLUMNS, sorted: :live_bytes, name: "location",
                           label: ->(row) { Table::Label.new(place: row.location.to_s) },
                           data: ->(row) { { location: row.location.to_s } })
      end
    end
  end
end
