# frozen_string_literal: true

require_relative "screen/columns"
require_relative "screen/view"
require_relative "../accounting/flight_directory"
require_relative "../command/base"
require_relative "../figures/typed"

module Heapline
  module Top
    # Frames as plain text: for files, pipes, and terminals that cannot place the cursor.
    class Plain
      # rows: of the table. json: as one JSON object.
      def initialize(out, stage, view:, every:, rows:, env:, json: false)
        @out = out
        @stage = stage
        @view = view
        @every = every
        @rows = rows
        @env = env
        @json = json
      end

      # Read, wait, read again and print; repeat: until the process ends.
      def run(repeat: false)
        @stage.read(@view)
        @stage.demand(@view)
        loop do
          sleep @every unless @stage.ending
          @stage.read(@view) unless @stage.ending
          print
          break if @stage.ending || !repeat

          @out.puts
        end
      end

      # What was read last.
      def print
        return Json.new(@rows).render(@view, @stage.scene(@view), @out) if @json

        terminal = Terminal::Output.new(@out, @env)
        lines = Screen.new(terminal, height: @rows).plain(@view, @stage.scene(@view))
        lines.each { |line| @out.puts line }
      end
    end

    # `heapline top`: what running processes do with their memory, as a screen that is renewed each second. It reads
    # flight files; the processes do not notice.
    class TopCommand < Command::Base
      USAGE_LINE = "top [options] [PID|NAME]"
      SUMMARY = "Watch the memory of running processes: growth and rates by line, live"
      EVERY = 1.0
      ROWS = 20
      GROUPS = %w[line gem file library tag class].freeze
      SORTS = %i[sites processes].flat_map { |page| Screen::Columns.keys(page) }.uniq.freeze
      ENDINGS = { killed: "was killed (it did not end in an orderly way)", exited: "has exited",
                  execed: "became another program" }.freeze

      def call(argv)
        wanted, *others = parse(argv)
        raise UsageError, "one process at a time, not also #{others.join(" ")}" unless others.empty?
        raise UsageError, "either --all or one process, not both" if wanted && @options[:all]

        require_relative "stage"
        directory = Accounting::FlightDirectory.new(@env)
        @stage = Stage.new(directory, wanted && Target.find(directory, wanted, @err, @env))
        check
        live? ? watch : plain
      end

      private

      def define(parser)
        parser.on("--all", "all processes, one line each (the default without PID and NAME)") { @options[:all] = true }
        parser.on("--every S", "seconds between two readings (1)") { |value| @options[:every] = seconds(value) }
        parser.on("--sort KEY", "sort by #{SORTS.join(", ")}") { |value| @options[:sort_key] = sort(value) }
        parser.on("--by GROUP", GROUPS, "sums by #{GROUPS.join(", ")}") do |value|
          @options[:by] = value == "line" ? :location : value.to_sym
        end
        parser.on("--filter TEXT", "only rows that contain a text") { |value| @options[:pattern] = value }
        parser.on("--no-merge", "without the processes that were forked from it") { @options[:merged] = false }
        parser.on("--once", "print one frame, with rates over the seconds of --every") { @options[:once] = true }
        define_top(parser, "rows of a printed frame", rows: ROWS)
        define_format(parser, %w[text json], "text, json: format of a printed frame")
      end

      def seconds(text)
        value = Figures::Typed.seconds(text, zero: true)
        raise UsageError, "--every needs a number of seconds from 0.05 to 86400" unless value.between?(0.05, 86_400)

        value
      end

      def sort(value)
        SORTS.find { |key| key.to_s == value } ||
          raise(UsageError, "no such sort key: #{value.inspect}; there are #{SORTS.join(", ")}")
      end

      def every
        @options.fetch(:every, EVERY)
      end

      def view
        choices = @options.slice(:by, :pattern, :merged, :sort_key)
        Screen::View.new(page: page, **choices)
      end

      def page
        @stage.listed? ? :processes : :sites
      end

      # Not each option has a meaning on each page.
      def check
        table = { sites: "the lines of a process", processes: "a list of processes" }.fetch(page)
        keys = Screen::Columns.keys(page)
        sort = @options[:sort_key]
        if sort && !keys.include?(sort)
          raise UsageError,
                "#{table} cannot be sorted by #{sort}, but by #{keys.join(", ")}"
        end
        raise UsageError, "--by needs a process: give a PID or NAME" if @options[:by] && page == :processes
      end

      # A screen needs a terminal on both sides.
      def live?
        !@options[:once] && !json? && [$stdin, @out].all? { |io| io.respond_to?(:tty?) && io.tty? }
      end

      def dumb?
        ["", "dumb"].include?(@env["TERM"].to_s)
      end

      def watch
        return plain(repeat: true) if dumb?

        require_relative "session"
        console = Console.new($stdin, @out)
        signal = Session.new(console, @stage, view: view, every: every, env: @env).run
        Process.kill(signal, Process.pid) if signal
        @stage.ending ? farewell : Command::OK
      end

      def plain(repeat: false)
        paper.run(repeat: repeat)
        @stage.ending && !json? ? tell : Command::OK
      end

      # The screen has gone with all that was on it: the last frame stays.
      def farewell
        paper.print
        tell
      end

      def paper
        require_relative "screen"
        require_relative "json"
        Plain.new(@out, @stage, view: view, every: every, rows: @options.fetch(:top, ROWS), env: @env, json: json?)
      end

      def tell
        ending = @stage.ending
        remedy = if ending.kept
                   "its counts are kept: heapline report #{ending.pid}"
                 else
                   "its flight file is gone; with heapline --keep it stays for heapline report"
                 end
        @out.puts "process #{ending.pid} #{ENDINGS.fetch(ending.state)}; #{remedy}"
        Command::OK
      end
    end
  end
end
