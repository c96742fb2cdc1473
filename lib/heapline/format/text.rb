# frozen_string_literal: true

require_relative "listing"
require_relative "memory_lines"
require_relative "next_lines"
require_relative "object_lines"
require_relative "selection"
require_relative "table"
require_relative "wrap"

module Heapline
  module Format
    # The report for people: the process, its memory explained, totals, the table of sites, the one of Ruby objects
    # where they were accounted, failures, what to do next.
    class Text
      FAILURES = {
        sites_refused: "lookups of new lines found the site table full: their memory counts as (other)",
        pages_refused: "requests for room in the flight file were refused (full file system or limit): counts may " \
                       "miss sites; set HEAPLINE_DIR to a place with more room",
        counts_lost: "frees found no counter: live figures may be too high",
        mismatches: "lines differed from Ruby's own answer: see heapline doctor",
        objects_refused: "objects found the table of objects full: they count as (other)",
        objects_untracked: "objects could not be followed to their end (no memory): they are in no figure",
        objects_mismatches: "slots were used again without their object's end being seen: it counts as freed then",
        objects_ractors: "Ractors made objects that are not seen on this Ruby",
        impossible_sites: "sites show more frees than allocations: the file was copied while it changed"
      }.freeze

      # top: rows (0: all). sort: a key of Columns. min: least bytes of growth and live of a row. by: nil, or :gem,
      # :file, :library, :tag, :class. objects: only the Ruby objects, and not the table of malloc (by :class: always
      # so). memory: Model::ProcessMemory or nil. ledger: Model::Ledger or nil. directory: paths in it are shown
      # relative to it.
      # more: the commands that show more, an Array of [command, why].
      def initialize(top: 20, sort: :growth, min: 0, by: nil, objects: false, memory: nil, ledger: nil,
                     directory: nil, more: [], env: ENV)
        @column = Columns.fetch(sort)
        @selection = Selection.new(top: top, sort: @column.figure, min: min)
        @by = by
        @objects = objects || by == :class
        @memory = memory
        @ledger = ledger
        @directory = directory
        @more = more
        @env = env
      end

      # Write the report on `snapshot` to `io`.
      def render(snapshot, io)
        @terminal = Terminal.new(io, @env)
        memory = MemoryLines.new(snapshot, @memory, @terminal, ledger: @ledger)
        blocks = [header(snapshot), memory.lines, table(snapshot), objects(snapshot), failures(snapshot),
                  NextLines.of(@more, @terminal)]
        io.write("#{blocks.reject(&:empty?).map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def header(snapshot)
        parts = [command(snapshot), "pid #{snapshot.pid}", state(snapshot), duration(snapshot), ruby(snapshot),
                 snapshot.allocator && @terminal.inert(snapshot.allocator)]
        first, *rest = Wrap.parts(["heapline  #{parts.compact.first}", *parts.compact.drop(1)], @terminal, indent: "  ")
        [first.sub("heapline", @terminal.style("heapline", :bold)), *rest]
      end

      def command(snapshot)
        text = @terminal.inert(snapshot.command.join(" "))
        limit = @terminal.width - 14
        text.length > limit ? text[0, limit] + @terminal.sign("…") : text
      end

      def state(snapshot)
        case snapshot.state
        when :killed then "killed (it did not end in an orderly way)"
        when :copied then "as of #{snapshot.taken_at.strftime("%Y-%m-%d %H:%M:%S")}"
        when :execed then "went on as another program"
        end
      end

      def duration(snapshot)
        snapshot.duration && Units.duration(snapshot.duration)
      end

      def ruby(snapshot)
        text = snapshot.ruby && @terminal.inert(snapshot.ruby)
        text && "Ruby #{text[/\Aruby (\S+)/, 1] || text}"
      end

      # The malloc figures, unless it is objects alone that are asked for.
      def table(snapshot)
        return [] if @objects

        listing = Listing.new(snapshot.sums(@by || :location), column: @column, selection: @selection)
        return ["  no allocation was counted"] if listing.all.empty?

        [*Table.new(listing.shown, sort: @column.key, terminal: @terminal, directory: @directory,
                                   columns: columns(listing.shown, snapshot)).lines,
         "  #{@terminal.style(listing.summary("site", @by), :dim)}"]
      end

      # With the growth in objects of the same line, or group.
      def columns(rows, snapshot)
        return Columns.for(@column.key) unless objects?(snapshot)

        objects = Columns::Beside.new(rows, snapshot.objects, by: @by, key: :objects, title: "objects",
                                                              figure: :growth, unit: :count)
        [*Columns.for(@column.key), objects]
      end

      def objects(snapshot)
        return [] unless objects?(snapshot)

        ObjectLines.new(@terminal, top: @selection.top, sort: @column.key, min: @selection.min, by: @by,
                                   directory: @directory).lines(snapshot.objects, snapshot)
      end

      # Objects are made by the VM alone: they have no library.
      def objects?(snapshot)
        snapshot.objects && @by != :library
      end

      def failures(snapshot)
        snapshot.failures.map do |name, count|
          "  #{@terminal.style("note", :red)}  #{Units.count(count)} #{FAILURES.fetch(name, name.to_s)}"
        end
      end
    end
  end
end
