# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "../table/sheet_text"
require_relative "../table/sheet"
require_relative "../terminal/sparkline"
require_relative "../terminal/output"
require_relative "../figures/units"

module Heapline
  module Heap
    # The pages of an object heap for people: how full they are, who keeps the sparse ones, and what would help.
    class PagesText
      Column = Figures::Columns::Column
      SIZES = [
        Column.new(key: :pages, title: "pages", figure: :pages, unit: :count),
        Column.new(key: :bytes, title: "bytes", figure: :bytes, unit: :bytes),
        Column.new(key: :live, title: "live", figure: :live_slots, unit: :count),
        Column.new(key: :pinned, title: "pinned", figure: :pinned_slots, unit: :count),
        Column.new(key: :garbage, title: "garbage", figure: :garbage_slots, unit: :count),
        Column.new(key: :free, title: "free", figure: :free_slots, unit: :count)
      ].freeze
      HOLDERS = [
        Column.new(key: :pages, title: "pages", figure: :pages, unit: :count),
        Column.new(key: :objects, title: "objects", figure: :objects, unit: :count),
        Column.new(key: :pinned, title: "pinned", figure: :pinned, unit: :count)
      ].freeze
      # Bytes that are worth a word.
      WORTH = 500_000

      # below: as for Pages#sparse. top: rows of the table of holders; 0: all. directory: paths below it are shown
      # relative to it.
      def initialize(below: 0.1, top: 20, directory: nil, env: ENV)
        @below = below
        @top = top
        @directory = directory
        @env = env
      end

      # Write Heap::Pages to `io`.
      def render(pages, io)
        @terminal = Terminal::Output.new(io, @env)
        sparse = pages.sparse(below: @below)
        blocks = [heading(pages), sizes(pages), sparse(sparse), notes(pages, sparse)]
        io.write("#{blocks.reject(&:empty?).map { |lines| lines.join("\n") }.join("\n\n")}\n")
      end

      private

      def heading(pages)
        parts = ["pid #{pages.pid}", pages.ruby.to_s[/\Aruby \S+/], pages.time,
                 "GC #{Units.count(pages.generation)}"]
        parts = parts.compact.map { |part| @terminal.inert(part) }
        ["#{@terminal.style("heapline pages", :bold)}  #{parts.join(@terminal.sign(" · "))}", *indented(summary(pages))]
      end

      def summary(pages)
        all = pages.totals
        [counted(all.pages, "page"), Units.bytes(all.bytes), "#{Units.count(all.slots)} slots",
         *percent(all.live_slots, all.slots, "live"), *percent(all.garbage_slots, all.slots, "garbage"),
         *percent(all.free_slots, all.slots, "free"), *percent(all.pinned_slots, all.live_slots, "of the live pinned")]
      end

      def percent(part, whole, what)
        part && whole.positive? ? ["#{(100.0 * part / whole).round} % #{what}"] : []
      end

      def sizes(pages)
        table(pages.by_slot_size, SIZES, name: "slots of    pages that are 0 to 100 % full") do |row|
          bars = Terminal::Sparkline.text(row.fill, width: row.fill.size, unicode: @terminal.unicode?)
          Table::Label.new(text: "#{row.slot_bytes.to_s.rjust(4)} B      #{bars}")
        end
      end

      # ---- sparse pages ----

      def sparse(sparse)
        limit = "#{format("%g", 100 * sparse.below)} %"
        return ["  Every page with a live object is at least #{limit} live."] if sparse.none?

        holders = sparse.holders
        shown = @top.zero? ? holders : holders.first(@top)
        [*indented(["#{counted(sparse.size, "page")} (#{Units.bytes(sparse.bytes)}) less than #{limit} live",
                    "kept by #{counted(sparse.objects, "object")}", *movable(sparse)]), "", *holder_table(shown),
         *(@terminal.style("  #{Units.count(holders.size - shown.size)} more; all: --top 0", :dim) if
           shown.size < holders.size)]
      end

      def movable(sparse)
        sparse.movable ? ["#{Units.count(sparse.movable.size)} of them without a pinned object"] : []
      end

      def holder_table(rows)
        widest = rows.map { |row| @terminal.inert(row.class_name).length }.max
        table(rows, HOLDERS, name: "#{"class".ljust(widest)}  location", sorted: :pages) do |row|
          place = row.location&.to_s
          Table::Label.new(text: place ? row.class_name.ljust(widest) : row.class_name, place: place)
        end
      end

      def table(rows, columns, name:, sorted: nil, &label)
        Table::SheetGrid.new(Table::Listing.new(rows: rows, columns: known(rows, columns), sorted: sorted, name: name,
                                                label: label), terminal: @terminal, directory: @directory).lines
      end

      # Without what this Ruby does not tell.
      def known(rows, columns)
        columns.reject { |column| rows.any? { |row| column.value(row).nil? } }
      end

      # ---- what helps ----

      def notes(pages, sparse)
        [lines(sparse), empty(pages), freed(pages), compaction(sparse, pages), pinned(sparse)]
          .compact.flat_map { |text| fold(text) }
      end

      def lines(sparse)
        return if sparse.none? || sparse.any? { |page| page.holders.any?(&:location) }

        "The lines of these objects are known in a process that runs with heapline --objects."
      end

      def empty(pages)
        none = pages.count { |page| page.live_slots.zero? && !page.reserve? }
        reserve = pages.reserve.size
        return if (none + reserve).zero?

        parts = ["#{counted(none, "page")} (#{Units.bytes(none * pages.page_bytes)}) without a live object",
                 ("#{Units.count(reserve)} more in the VM's reserve" if reserve.positive?)]
        "#{parts.compact.join(", ")}: Ruby uses them for new objects, and gives back some at each major GC."
      end

      def freed(pages)
        spans = pages.freed
        return unless spans&.count&.positive?

        "Given back so far: #{counted(spans.count, "page")}, which lived #{format("%.1f", spans.mean)} GCs on " \
          "average, #{spans.max} at most."
      end

      def compaction(sparse, pages)
        movable = sparse.movable
        return unless movable && movable.size * pages.page_bytes >= WORTH

        "What helps: GC.compact in the process moves live objects together and can empty most of " \
          "the #{counted(movable.size, "page")} without a pinned object; GC.auto_compact = true does so at each " \
          "major GC, Process.warmup (Ruby 3.3 and later) once before a server forks."
      end

      def pinned(sparse)
        return unless sparse.movable && sparse.size > 2 * sparse.movable.size

        "Most of these pages hold a pinned object: compaction does not empty them. Let the objects go, or make them " \
          "before the many that come and go."
      end

      # ---- words ----

      def indented(parts)
        @terminal.wrap(parts).map { |line| "  #{line}" }
      end

      def counted(number, noun)
        "#{Units.count(number)} #{noun}#{"s" unless number == 1}"
      end

      # Text as indented lines that fit.
      def fold(text)
        @terminal.sign(text).gsub(/(.{1,#{@terminal.width - 4}})(?:\s+|\z)/, "  \\1\n").lines.map(&:chomp)
      end
    end
  end
end
