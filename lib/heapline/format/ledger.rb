# frozen_string_literal: true

require_relative "terminal"
require_relative "units"
require_relative "wrap"

module Heapline
  module Format
    # A ledger for people: one line each, the largest first, with its share and a bar; what would help.
    class Ledger
      NAME = 28
      LEAST_BAR = 10
      WORTH = 500_000 # bytes that are worth a word
      AGE = 10 # seconds from which on the object heap's figures are said to be old

      # parts: each line's parts too. now: Time that ages are counted to.
      def initialize(parts: false, env: ENV, now: Time.now)
        @parts = parts
        @env = env
        @now = now
      end

      # Write the ledger of the process that `snapshot` is of to `io`.
      def render(snapshot, ledger, io)
        @terminal = Terminal.new(io, @env)
        blocks = [heading(snapshot), lines(ledger), notes(snapshot, ledger)]
        io.write("#{blocks.reject(&:empty?).map { |block| block.join("\n") }.join("\n\n")}\n")
      end

      private

      def heading(snapshot)
        command = @terminal.inert(snapshot.command.join(" "))
        parts = ["pid #{snapshot.pid}", snapshot.ruby.to_s[/\Aruby \S+/], snapshot.allocator]
        first = "#{@terminal.style("heapline", :bold)}  #{command[0, @terminal.width - 12]}"
        [first, *Wrap.parts(parts.compact.map { |part| @terminal.inert(part) }, @terminal).map { |line| "  #{line}" }]
      end

      def lines(ledger)
        rows = ledger.lines.reject { |line| line.bytes.zero? }.sort_by { |line| -line.bytes }
        shown = rows.flat_map do |line|
          name = line.key == :malloc_held && line.bytes.negative? ? "malloc not touched" : line.name
          [row(name, line.bytes, ledger.rss_bytes), *(parts(line) if @parts)]
        end
        [@terminal.style(row("RSS", ledger.rss_bytes, ledger.rss_bytes).rstrip, :bold), *shown]
      end

      def row(name, bytes, whole)
        share = whole.zero? ? 0.0 : 100.0 * bytes / whole
        text = format("  %-#{NAME}s %10s %7.1f %%", name, Units.bytes(bytes), share)
        text.length > @terminal.width ? text.sub(/ +(\S+ \S+) +\S+ %\z/, "  \\1") : "#{text}  #{bar(share)}".rstrip
      end

      # As many columns as are left show 100 %.
      def bar(share)
        room = @terminal.width - NAME - 27
        return "" if room < LEAST_BAR || share <= 0

        @terminal.style((@terminal.unicode? ? "█" : "#") * ([share, 100].min * room / 100).round, :cyan)
      end

      def parts(line)
        room = @terminal.width - 18
        line.parts.map do |part|
          @terminal.style("    #{Units.bytes(part.bytes).rjust(12)}  #{@terminal.inert(part.name)[0, room]}", :dim)
        end
      end

      def notes(snapshot, ledger)
        [unknown(snapshot, ledger), old(ledger), untouched(ledger), trim(snapshot, ledger), arenas(ledger)]
          .compact.flat_map { |text| fold(text) }
      end

      def unknown(snapshot, ledger)
        return nil if ledger.figures.objects_at

        "The object heap is not known: process #{snapshot.pid} has not answered, since it allocates nothing (idle or " \
          "stopped). Its pages are in the remainder, or count as held by malloc."
      end

      def old(ledger)
        at = ledger.figures.objects_at
        age = at ? @now - at : 0
        "The object heap is as it was #{Units.duration(age)} ago: the process has allocated nothing since." if age > AGE
      end

      def untouched(ledger)
        held = ledger[:malloc_held].bytes
        return nil unless held.negative?

        "malloc: of the live bytes at least #{Units.bytes(-held)} are not resident; the program asked for them and " \
          "has not touched them."
      end

      def trim(snapshot, ledger)
        range = ledger.returnable_bytes
        return nil if range.nil? || range.min < WORTH

        "heapline trim #{snapshot.pid} can give back #{Units.bytes(range.min)} (at most #{Units.bytes(range.max)}): " \
          "whole free pages of malloc."
      end

      def arenas(ledger)
        _, *others = ledger.figures.arenas
        free = others.sum(&:free_bytes)
        return nil if free < WORTH

        "#{Units.bytes(free)} are free in #{others.size} arenas beside the main one: MALLOC_ARENA_MAX=2 can save " \
          "that much at most."
      end

      # Text as indented lines that fit.
      def fold(text)
        @terminal.sign(text).gsub(/(.{1,#{@terminal.width - 4}})(?:\s+|\z)/, "  \\1\n").lines.map(&:chomp)
      end
    end
  end
end
