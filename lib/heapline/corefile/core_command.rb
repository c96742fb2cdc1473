# frozen_string_literal: true

require_relative "../command/base"
require_relative "../figures/columns"
require_relative "../table/sheet_text"
require_relative "../table/json_object"
require_relative "../files/output_file"
require_relative "core_file"

module Heapline
  # @api private
  module Corefile
    # `heapline core FILE`: what a dead process held, by line.
    class CoreCommand < Command::Base
      USAGE_LINE = "core [options] FILE [holders ADDRESS|CLASS|LINE | dominators | leaked | heap -o OUTPUT]"
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

      CHUNK_COLUMNS = [Figures::Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes)].freeze
      ARENA_COLUMNS = { system_bytes: "bytes", used_bytes: "used", free_bytes: "free", top_bytes: "top",
                        retained_bytes: "given back", free_chunks: "free chunks",
                        largest_free_bytes: "largest" }.map do |key, title|
        Figures::Columns::Column.new(key: key, title: title, figure: key, unit: key == :free_chunks ? :count : :bytes)
      end.freeze
      LOST_COLUMNS = [Figures::Columns::Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes),
                      Figures::Columns::Column.new(key: :blocks, title: "blocks", figure: :blocks, unit: :count)].freeze
      # What can be asked beside the summary, and how many words that takes.
      QUESTIONS = { nil => 0, "holders" => 1, "dominators" => 0, "leaked" => 0, "heap" => 0 }.freeze

      def call(argv)
        path, question, *words = parse(argv)
        raise UsageError, "which core file?" unless path

        demand_words(question, words)
        core = CoreFile.new(path, **@options.slice(:flight, :sysroot, :debuginfod))
        return write(core) if question == "heap"

        sheet = answer(path, core, question, words)
        renderer.render(sheet, @out)
        sheet.problems.empty? ? Command::OK : Command::FOUND
      end

      private

      def define(parser)
        define_top(parser)
        define_format(parser, %w[text json])
        parser.on("-o", "--output FILE", "for heap: the file to write") do |file|
          @options[:output] = file
        end
        parser.on("--contents", "for holders, dominators and heap: show the contents of strings") do
          @options[:contents] = true
        end
        parser.on("--flight FILE", "the flight file, if it is no longer where the process had it") do |file|
          @options[:flight] = file
        end
        define_libraries(parser)
      end

      def define_libraries(parser)
        parser.on("--sysroot DIR", "look for the process's libraries below DIR, too") do |root|
          @options[:sysroot] = root
        end
        parser.on("--debuginfod", "ask the servers of DEBUGINFOD_URLS for libraries and debug information not found") do
          @options[:debuginfod] = true
        end
      end

      def renderer
        return Table::SheetJson.new(read: :cores) if json?

        Table::SheetText.new(directory: Command.here, env: @env)
      end

      def demand_words(question, words)
        wanted = QUESTIONS.fetch(question) do
          raise UsageError,
                "#{question} cannot be asked of a core: holders, dominators, leaked or heap; one core file at a time"
        end
        raise UsageError, "holders of what? give an address (0x…), a class or a line" if words.size < wanted
        raise UsageError, "#{question} does not take #{words.drop(wanted).join(" ")}" if words.size > wanted
        raise UsageError, "where to? give -o FILE" if question == "heap" && !@options[:output]
        raise UsageError, "-o is for heap" if question != "heap" && @options[:output]
      end

      def answer(path, core, question, words)
        return sheet(path, core) unless question
        return lost(path, core) if question == "leaked"

        require_relative "core_heap"
        heap = CoreHeap.new(core, name: path, **@options.slice(:top, :contents))
        sheet = heap.public_send(question, *words)
        Table::Sheet.new(**sheet.to_h, title: "heapline core #{question}", problems: core.problems + sheet.problems)
      end

      def write(core)
        Files::OutputFile.write(@options[:output]) { |file| core.write_heap(file, contents: @options[:contents]) }
        core.problems.each { |problem| Command.say(@err, Inert.text(problem)) }
        core.problems.empty? ? Command::OK : Command::FOUND
      end

      # Blocks to which nothing leads.
      def lost(path, core)
        leaks = core.leaks
        Table::Sheet.new(kind: :leaked, title: "heapline core leaked", dumps: [about(path, core.facts)],
                         parts: [lost_totals(leaks), lost_listing(core, leaks.rows)], problems: core.problems)
      end

      def lost_totals(leaks)
        lost = [leaks.rows.sum(&:blocks), leaks.rows.sum(&:bytes)]
        figures = { used: leaks.used, leaked: lost, cached: leaks.cached }
        words = { used: "in use", leaked: "to which nothing leads", cached: "free, in the allocator's caches" }
        Table::Statement.new(key: :totals, separator: " · ",
                             data: figures.transform_values { |blocks, bytes| { blocks: blocks, bytes: bytes } },
                             parts: figures.map do |name, (blocks, bytes)|
                               "#{Units.bytes(bytes)} in #{Units.count(blocks)} blocks #{words[name]}"
                             end)
      end

      def lost_listing(core, rows)
        large = first_of(rows.sort_by { |row| [-row.bytes, row.name.b] })
        functions = functions(core, large)
        Table::Listing.new(key: :leaked, title: "Lost", rows: large, total: rows.size,
                           columns: LOST_COLUMNS, sorted: :bytes, name: "location",
                           label: ->(row) { row.location ? label(row, functions) : Table::Label.new(text: row.name) },
                           data: ->(row) { { location: row.name, **code(row, functions) } })
      end

      def sheet(path, core)
        Table::Sheet.new(kind: :core, title: "heapline core", dumps: [about(path, core.facts)],
                         parts: core.by_line? ? line_parts(core) : ruby_parts(core),
                         problems: core.problems)
      end

      def line_parts(core)
        [totals(core.rows), listing(core), largest(core), arenas(core.arenas)]
      end

      # Without heapline: what Ruby's own heap and the allocator's arenas tell.
      def ruby_parts(core)
        threads = core.frames.group_by(&:thread).map { |number, frames| thread(number, frames) }
        [memory(core), classes(core.classes), sizes(core.sizes), largest(core), arenas(core.arenas), *threads]
      end

      def memory(core)
        bytes, free, top = %i[system_bytes free_bytes top_bytes].map { |name| core.arenas.sum(&name) }
        used, blocks = core.facts.values_at(:used_bytes, :used_blocks)
        whose = core.arenas.map { |arena| "#{arena.allocator}'s" }.uniq.join(" and ")
        Table::Statement.new(key: :memory, separator: " · ",
                             data: { arena_bytes: bytes, arenas: core.arenas.size, used_bytes: used,
                                     used_blocks: blocks },
                             parts: ["#{Units.bytes(bytes)} in #{whose} arenas (#{Units.count(core.arenas.size)})",
                                     "#{Units.bytes(used)} in #{Units.count(blocks)} blocks in use or in caches",
                                     "#{Units.bytes(free + top)} free"])
      end

      def classes(rows)
        large = rows.sort_by { |row| [-row.object_bytes, row.name.b] }
        Table::Listing.new(key: :classes, title: "Objects", rows: first_of(large), total: rows.size,
                           columns: CLASS_COLUMNS, sorted: :object_bytes, name: "class",
                           label: ->(row) { Table::Label.new(text: row.name) }, data: ->(row) { { class: row.name } })
      end

      def sizes(rows)
        large = rows.sort_by { |row| [-row.object_bytes, size_words(row)] }
        Table::Listing.new(key: :sizes, title: "Strings and arrays by size", rows: first_of(large), total: rows.size,
                           columns: CLASS_COLUMNS, sorted: :object_bytes, name: "their bytes",
                           label: ->(row) { Table::Label.new(text: size_words(row)) }, data: method(:size_data))
      end

      def size_words(row)
        case row.at
        when :slot then "#{row.type} in its slot"
        when :elsewhere then "#{row.type} in no block of its own"
        else "#{row.type} in a block of #{Units.bytes(row.at)} to #{Units.bytes(row.at * 2)}"
        end
      end

      def size_data(row)
        least = row.at unless row.at.is_a?(Symbol)
        { type: row.type, place: least ? :block : row.at, at_least_bytes: least, below_bytes: least && (least * 2) }
      end

      # The largest blocks, and free chunks among them.
      def largest(core)
        rows = core.largest
        large = first_of(rows.sort_by { |row| [-row.bytes, row.address] })
        functions = functions(core, large)
        Table::Listing.new(key: :largest_blocks, title: "Largest blocks", rows: large, total: rows.size,
                           columns: CHUNK_COLUMNS, sorted: :bytes, name: "block",
                           label: ->(row) { label(row, functions, chunk_words(row)) },
                           data: lambda { |row|
                             { address: hex(row.address), arena: row.arena, used: row.used,
                               location: row.location&.to_s, **code(row, functions) }
                           })
      end

      def chunk_words(row)
        where = row.arena ? "arena #{row.arena}" : "mapped"
        "#{hex(row.address)}  #{where}#{", free" unless row.used}"
      end

      def arenas(rows)
        large = rows.sort_by { |row| [-row.system_bytes, row.number] }
        Table::Listing.new(key: :arenas, title: "Arenas", rows: first_of(large), total: rows.size,
                           columns: arena_columns(rows), sorted: :system_bytes, name: "arena",
                           label: ->(row) { Table::Label.new(text: "#{row.number}  #{arena_words(row)}") },
                           data: lambda { |row|
                             { arena: row.number, allocator: row.allocator, address: row.address && hex(row.address),
                               index: row.index }
                           })
      end

      # glibc's have a last chunk; jemalloc's keep addresses.
      def arena_columns(rows)
        return ARENA_COLUMNS if json?

        without = [(:top_bytes if rows.none?(&:address)), (:retained_bytes if rows.all?(&:address))]
        ARENA_COLUMNS.reject { |column| without.include?(column.key) }
      end

      def arena_words(row)
        row.address ? hex(row.address) : "#{row.allocator} #{row.index}"
      end

      def thread(number, frames)
        Table::Listing.new(key: :frames, list: [:threads, { thread: number }], title: "Thread #{number}",
                           rows: first_of(frames), total: frames.size, columns: [], name: "location",
                           label: ->(row) { Table::Label.new(place: row.location, text: row.label) },
                           data: ->(row) { { location: row.location, label: row.label } })
      end

      def hex(address)
        format("0x%x", address)
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

      def listing(core)
        rows = core.rows
        large = first_of(rows.sort_by { |row| [-row.live_bytes, row.location.to_s.b] })
        functions = functions(core, large)
        Table::Listing.new(key: :sites, title: "Lines", rows: large, total: rows.size,
                           columns: COLUMNS, sorted: :live_bytes, name: "location",
                           label: ->(row) { label(row, functions) },
                           data: ->(row) { { location: row.location.to_s, **code(row, functions) } })
      end

      # Of the rows that are shown; see CoreFile#functions.
      def functions(core, rows)
        core.functions(rows.filter_map(&:location).uniq)
      end

      # Words, the location, and what code is there.
      def label(row, functions, words = nil)
        location = row.location
        return Table::Label.new(text: words) unless location

        called = functions[location] || (location.label unless location.path)
        parts = [words, location.to_s, called].compact
        Table::Label.new(text: (parts[0..-2].join("  ") if parts.size > 1), place: parts.last)
      end

      # As a report has them.
      def code(row, functions)
        { label: row.location&.label, function: functions[row.location] }
      end
    end
  end
end
