# frozen_string_literal: true

require_relative "../model"
require_relative "command"
require_relative "next_steps"
require_relative "run_options"

module Heapline
  module CLI
    # `heapline report PID|FILE`: reads one process's counts without disturbing it, alive, hung or dead.
    class Report < Command
      USAGE_LINE = "report [options] PID|FILE"
      SUMMARY = "Show which lines hold the memory of a process that runs, hangs or has died"
      GROUPS = %w[gem file library tag].freeze
      DEFAULTS = { top: 20, sort: :growth, min: 0 }.freeze

      def call(argv)
        return exit_report(argv) if argv.first == "--exit"

        source, *others = parse(argv)
        raise UsageError, "whose report? give a PID or a file" if source.nil?
        raise UsageError, "one PID or file at a time, not also #{others.join(" ")}" unless others.empty?

        snapshot = read(source)
        render(snapshot, source)
        OK
      end

      private

      def define(parser)
        parser.on("--top N", "rows (20; 0: all)") { |value| @options[:top] = Size.count(value) }
        parser.on("--sort KEY", "sort by #{Format::Columns::KEYS.join(", ")}") do |value|
          @options[:sort] = RunOptions.sort(value)
        end
        parser.on("--min BYTES", "least live or growth bytes of a row") { |value| @options[:min] = Size.bytes(value) }
        parser.on("--by GROUP", GROUPS, "sums by #{GROUPS.join(", ")}") { |value| @options[:by] = value.to_sym }
        parser.on("--json", "JSON instead of text") { @options[:json] = true }
        parser.on("--merge", "add the processes that were forked from it") { @options[:merge] = true }
      end

      # The core calls `report --exit --fd 3` when the accounted program ends.
      def exit_report(argv)
        require_relative "exit_report"
        ExitReport.new(env: @env, out: @out, err: @err).call(argv.drop(1))
      end

      def directory
        @directory ||= Model::FlightDirectory.new(@env)
      end

      def read(source)
        path = path_of(source)
        snapshot = without_gc { Model::Flight.read(path) }
        @options[:merge] ? Model::ProcessTree.merge(snapshot, children(snapshot)) : snapshot
      end

      # All that is read is kept: looking for garbage meanwhile would be a fifth of the time.
      def without_gc
        disabled = GC.disable
        yield
      ensure
        GC.enable unless disabled
      end

      def path_of(source)
        return source unless source.match?(/\A\d{1,10}\z/)

        entry = directory.find(source.to_i)
        entry&.path || raise(FlightError, "process #{source} has no flight file in #{directory.path}: was it started " \
                                          "with heapline, by this user? `heapline ps` lists those that were")
      end

      def children(root)
        others = directory.entries.reject { |entry| entry.pid == root.pid }
        Model::ProcessTree.descendants(root, others.filter_map { |entry| readable(entry) })
      end

      def readable(entry)
        Model::Flight.read(entry.path)
      rescue FlightError => e
        @err.puts "heapline: left out: #{e.message}"
        nil
      end

      def render(snapshot, source)
        options = DEFAULTS.merge(@options)
        memory = Model::ProcessMemory.read(snapshot.pid) if snapshot.state == :running && !@options[:merge]
        shown = options.slice(:top, :sort, :min, :by)
        if @options[:json]
          json(snapshot, memory, shown)
        else
          text(snapshot, memory, shown, source)
        end
      end

      def json(snapshot, memory, shown)
        require_relative "../format/json"
        shown[:sort] = Format::Columns.fetch(shown[:sort]).figure
        shown[:top] = @options.fetch(:top, 0)
        Format::Json.new(memory: memory, **shown).render(snapshot, @out)
      end

      def text(snapshot, memory, shown, source)
        require_relative "../format/text"
        more = NextSteps.for_report(snapshot, source, shown)
        Format::Text.new(memory: memory, directory: Dir.pwd, env: @env, more: more, **shown).render(snapshot, @out)
      end
    end
  end
end
