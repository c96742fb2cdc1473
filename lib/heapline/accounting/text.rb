# frozen_string_literal: true

require_relative "../table/selection"
require_relative "memory_lines"
require_relative "../command/next_steps"
require_relative "../objects/lines"
require_relative "../table/grid"
require_relative "../terminal/display_width"

module Heapline
  module Accounting
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
        objects_mismatches: "slots were used again before the end of their object was seen: it counts as freed then",
        objects_ractors: "Ractors made objects that heapline does not see on this Ruby",
        late_children: "children are counted from later than their fork: more than 128 had not run yet, a child did " \
                       "not run for five seconds, or it was made without libc's fork",
        based_children: "forked processes had a baseline: what they took between their fork and that is in no figure",
        impossible_sites: "sites show more frees than allocations: their live figures count as 0"
      }.freeze

      # top: rows (0: all). sort: a key of SiteFigures. min: least bytes of growth and live of a row. by: nil, or :gem,
      # :file, :library, :tag, :class. objects: only the Ruby objects, and not the table of malloc (by :class: always
      # so). loading: only what loading code took, by gem where nothing else is said. tag: only what has this tag, or
      # with "(no tag)" none. memory: Processes::ProcessMemory or nil. ledger: Processes::Ledger or nil. directory:
      # paths in it are shown relative to it.
      # more: the commands that show more, an Array of [command, why]. all: what shows all, where that is no option.
      def initialize(top: 20, sort: :growth, min: 0, by: nil, objects: false, loading: false, tag: nil, memory: nil,
                     ledger: nil, directory: nil, more: [], all: nil, env: ENV)
        @column = Figures::SiteFigures.fetch(sort)
        @selection = Table::Selection.new(top: top, sort: @column.figure, min: min)
        @by = by || (:gem if loading)
        @loading = loading
        @tag = tag
        @objects = objects || by == :class
        @memory = memory
        @ledger = ledger
        @directory = directory
        @more = more
        @all = all
        @env = env
      end

      # Write the report on `snapshot` to `io`.
      def render(snapshot, io)
        @terminal = Terminal::Output.new(io, @env)
        memory = MemoryLines.new(snapshot, @memory, @terminal, ledger: @ledger)
        shown = shown(snapshot)
        blocks = [header(snapshot), memory.lines, table(shown), objects(shown), failures(snapshot),
                  Command::NextSteps.lines(@more, @terminal)]
        io.write("#{blocks.reject(&:empty?).map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      # What the tables are of.
      def shown(snapshot)
        snapshot = tagged(snapshot) if @tag
        return snapshot.loading if @loading

        @by || snapshot.row_count ? snapshot : snapshot.overview
      end

      def tagged(snapshot)
        tag = @tag unless @tag == Places::SiteCollection::UNNAMED[:tag]
        sites, objects = [snapshot, snapshot.objects].map { |all| all&.select { |site| site.tag == tag } }
        snapshot.with(sites: sites, objects: objects && Objects::Snapshot.new(objects))
      end

      def header(snapshot)
        parts = [command(snapshot), pid(snapshot), state(snapshot), duration(snapshot), ruby(snapshot),
                 snapshot.allocator && @terminal.inert(snapshot.allocator)]
        first, *rest = @terminal.wrap(["heapline  #{parts.compact.first}", *parts.compact.drop(1)],
                                      indent: "  ")
        [first.sub("heapline", @terminal.style("heapline", :bold)), *rest, *counted(snapshot)]
      end

      # From when to when, where that is not the whole life of the process.
      def counted(snapshot)
        stopped = snapshot.stopped_at && "counting ended at #{snapshot.stopped_at.strftime("%Y-%m-%d %H:%M:%S")}"
        sentences = [snapshot.older&.words, snapshot.older&.uncovered_words, stopped].compact
        sentences.flat_map { |words| @terminal.wrap(["  #{words}"], indent: "  ") }
      end

      # nil: a JSON report was written without it.
      def command(snapshot)
        return unless snapshot.command

        Terminal::DisplayWidth.first(@terminal.inert(snapshot.command.join(" ")), @terminal.width - 13,
                                     sign: @terminal.sign("…"))
      end

      def pid(snapshot)
        "pid #{snapshot.pid}#{" and #{snapshot.merged} forked" if snapshot.merged}"
      end

      def state(snapshot)
        case snapshot.state
        when :killed then "killed (it did not end in an orderly way)"
        when :copied then "as of #{snapshot.taken_at.strftime("%Y-%m-%d %H:%M:%S")}"
        when :execed then "became another program"
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

        listing = listing(snapshot)
        return ["  no #{@loading ? "code was loaded" : "allocation was counted"}"] if listing.all.empty?

        rows = @by && @by != :location ? listing.shown : with_functions(listing.shown, snapshot)
        [*Table::Rows.new(rows, sort: @column.key, terminal: @terminal, directory: @directory,
                                columns: columns(rows, snapshot)).lines,
         "  #{@terminal.style(listing.summary("site", @by, all: @all), :dim)}"]
      end

      # Native code's rows have the names of functions; of a Ruby program the VM's own.
      def with_functions(rows, snapshot)
        require_relative "native_places"
        NativePlaces.named(rows, of_vm: snapshot.ruby?)
      end

      # What was read for this table is in order already.
      def listing(snapshot)
        read = snapshot.row_count unless @by
        rows = read ? snapshot.sites : snapshot.sums(@by || :location)
        Table::TopRows.new(rows, column: @column, selection: @selection, count: read)
      end

      # With the growth in objects of the same line, or group.
      def columns(rows, snapshot)
        usual = Figures::SiteFigures.for(@column.key, gcs: snapshot.ruby?)
        return usual unless objects?(snapshot)

        objects = Figures::Columns::Joined.new(rows, snapshot.objects, by: @by, key: :objects, title: "objects",
                                                                       figure: :growth, unit: :count)
        [*usual, objects]
      end

      def objects(snapshot)
        return [] unless objects?(snapshot)

        Objects::Lines.new(@terminal, top: @selection.top, sort: @column.key, min: @selection.min, by: @by,
                                      directory: @directory, all: @all).lines(snapshot.objects, snapshot)
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
