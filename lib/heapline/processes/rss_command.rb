# frozen_string_literal: true

require_relative "../accounting/flight"
require_relative "ledger"
require_relative "figures_inquiry"
require_relative "../command/base"
require_relative "running_process"
require_relative "../terminal/output"
require_relative "../figures/units"
require_relative "../terminal/inert"
require_relative "../table/json_object"

module Heapline
  module Processes
    # `heapline rss PID`: where the resident memory of a running process is, as lines that add up to it.
    class RssCommand < Command::Base
      include RunningProcess

      USAGE_LINE = "rss [options] PID"
      SUMMARY = "Show what a process's resident memory (RSS) is used for, as lines that add up"

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has no RSS", answers: false)
        ask(entry)
        snapshot = parts? ? Accounting::Flight.read(entry.path) : Accounting::Flight.totals(entry.path)
        ledger = Ledger.read(snapshot, drill: parts?)
        raise Error, "process #{entry.pid} ended, or /proc/#{entry.pid}/smaps may not be read" unless ledger

        render(snapshot, ledger)
        Command::OK
      end

      private

      def define(parser)
        parser.on("--parts", "what each line consists of") { @options[:parts] = true }
        define_format(parser, %w[text json], "text, or json, which has the parts too")
        define_timeout(parser)
        parser.on("--no-survey", "do not let glibc go through its free blocks") { @options[:no_survey] = true }
      end

      def ask(entry)
        FiguresInquiry.new(entry, env: @env).ask(timeout: timeout, survey: !@options[:no_survey])
      rescue FlightError
        raise
      rescue Error
        nil # it cannot be asked
      end

      # Without the process's own figures the ledger only says less.
      def default_timeout
        1.0
      end

      def parts?
        @options[:parts] || json?
      end

      def render(snapshot, ledger)
        text = LedgerText.new(parts: parts?, env: @env, arenas_limited: arenas_limited?(snapshot.pid))
        (json? ? LedgerJson.new : text).render(snapshot, ledger, @out)
      end

      def arenas_limited?(pid)
        File.binread("/proc/#{pid}/environ").match?(/(\A|\0)(MALLOC_ARENA_MAX|GLIBC_TUNABLES=[^\0]*arena_max)=/n)
      rescue SystemCallError
        false
      end
    end

    # A ledger for people: one line each, the largest first, with its share and a bar; what would help.
    class LedgerText
      NAME = 28
      LEAST_BAR = 10
      WORTH = 500_000 # bytes that are worth a word
      AGE = 10 # seconds from which on the object heap's figures are said to be old

      # parts: each line's parts too. arenas_limited: does the process's environment say how many arenas glibc may have?
      # now: Time that ages are counted to.
      def initialize(parts: false, env: ENV, arenas_limited: false, now: Time.now)
        @parts = parts
        @arenas_limited = arenas_limited
        @env = env
        @now = now
      end

      # Write the ledger of the process that `snapshot` is of to `io`.
      def render(snapshot, ledger, io)
        @terminal = Terminal::Output.new(io, @env)
        blocks = [heading(snapshot), lines(ledger), notes(snapshot, ledger)]
        io.write("#{blocks.reject(&:empty?).map { |block| block.join("\n") }.join("\n\n")}\n")
      end

      private

      def heading(snapshot)
        command = @terminal.inert(snapshot.command.join(" "))
        parts = ["pid #{snapshot.pid}", snapshot.ruby.to_s[/\Aruby \S+/], snapshot.allocator]
        first = "#{@terminal.style("heapline", :bold)}  #{command[0, @terminal.width - 12]}"
        [first, *@terminal.wrap(parts.compact.map do |part|
          @terminal.inert(part)
        end).map { |line| "  #{line}" }]
      end

      def lines(ledger)
        rows = ledger.lines.reject { |line| line.bytes.zero? }.sort_by { |line| -line.bytes }
        shown = rows.flat_map do |line|
          [row(line.name, line.bytes, ledger.rss_bytes), *(parts(line) if @parts)]
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
          @terminal.style("    #{Units.bytes(part.bytes).rjust(12)}  #{@terminal.inert(part.name)[0, room]}",
                          :dim)
        end
      end

      def notes(snapshot, ledger)
        [unknown(snapshot, ledger), old(ledger), untouched(ledger), trim(snapshot, ledger), arenas(ledger)]
          .compact.flat_map { |text| fold(text) }
      end

      def unknown(snapshot, ledger)
        return nil if ledger.figures.objects_at || !snapshot.ruby?

        "The object heap is not known: process #{snapshot.pid} has not answered, since it allocates nothing (idle or " \
          "stopped). Its pages count as of unknown use, or as held by malloc."
      end

      def old(ledger)
        at = ledger.figures.objects_at
        age = at ? @now - at : 0
        return unless age > AGE

        "The object heap is as it was #{Units.duration(age)} ago: the process has allocated nothing since."
      end

      def untouched(ledger)
        bytes = ledger.untouched_bytes
        return nil if bytes < WORTH

        "Not in RSS: at least #{Units.bytes(bytes)} that malloc gave out and the program has not touched."
      end

      def trim(snapshot, ledger)
        range = ledger.returnable_bytes
        return nil if range.nil? || range.min < WORTH

        "heapline trim #{snapshot.pid} can give back #{Units.bytes(range.min)} (at most #{Units.bytes(range.max)}): " \
          "whole free pages of malloc."
      end

      def arenas(ledger)
        _, *others = ledger.figures.arenas
        free = [others.sum(&:free_bytes), ledger[:malloc_held].bytes].min
        return nil if free < WORTH || others.size < 2 || @arenas_limited

        "#{others.size} arenas besides the main one have free memory: MALLOC_ARENA_MAX=2 can save " \
          "#{Units.bytes(free)} at most."
      end

      # Text as indented lines that fit.
      def fold(text)
        @terminal.sign(text).gsub(/(.{1,#{@terminal.width - 4}})(?:\s+|\z)/, "  \\1\n").lines.map(&:chomp)
      end
    end

    # A ledger as one JSON object; docs/cli.md describes each key.
    class LedgerJson
      include Table::JsonObject

      SCHEMA_VERSION = 1

      # Write the object and a line end to `io`.
      def render(snapshot, ledger, io)
        data = { schema_version: SCHEMA_VERSION, pid: snapshot.pid, allocator: text(snapshot.allocator),
                 rss_bytes: ledger.rss_bytes, untouched_bytes: ledger.untouched_bytes,
                 lines: ledger.lines.map { |line| line(line) },
                 returnable_bytes: ledger.returnable_bytes&.minmax, figures: figures(ledger.figures) }
        write(data, io)
      end

      private

      def line(line)
        { key: text(line.key), name: text(line.name), bytes: line.bytes, parts: line.parts.map { |part| line(part) } }
      end

      def figures(figures)
        figures.to_h.merge(arenas: figures.arenas.map(&:to_h)).transform_values do |value|
          value.is_a?(Time) ? time(value) : value
        end
      end

      def text(value)
        value && Inert.valid(value.to_s)
      end
    end
  end
end
