# frozen_string_literal: true

require_relative "../model"
require_relative "../model/inquiry"
require_relative "capture_report"
require_relative "command"
require_relative "next_steps"
require_relative "object_figures"
require_relative "output_file"
require_relative "rendering"
require_relative "run_options"
require_relative "source"

module Heapline
  module CLI
    # `heapline report PID|FILE`: reads one process's counts, alive, hung or dead, or a capture.
    class Report < Command
      USAGE_LINE = "report [options] PID|FILE"
      SUMMARY = "Show which lines hold the memory of a process that runs, hangs or has died, or what was recorded"
      PID = /\A\d{1,10}\z/
      PATIENCE = 0.25 # seconds
      GROUPS = %w[gem file library tag class].freeze

      def call(argv)
        return exit_report(argv) if argv.first == "--exit"

        source, *others = parse(argv)
        raise UsageError, "whose report? give a PID or a file" if source.nil?
        raise UsageError, "one PID or file at a time, not also #{others.join(" ")}" unless others.empty?
        return capture_report(source) if Source.capture?(source)

        refuse_for_counts
        snapshot = read(source)
        @options[:objects] = true if @options[:by] == :class
        ObjectFigures.demand(snapshot) if @options[:objects]
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
        parser.on("--by GROUP", GROUPS | CaptureReport::GROUPS,
                  "sums by #{GROUPS.join(", ")}; of a capture #{CaptureReport::GROUPS.join(", ")}") do |value|
          @options[:by] = value.to_sym
        end
        parser.on("--objects", "Ruby objects by line and class, without the table of malloc") do
          @options[:objects] = true
        end
        parser.on("--format NAME", formats = Format::NAMES.keys | CaptureReport::FORMATS, formats.join(", ")) do |name|
          @options[:format] = name
        end
        parser.on("--json", "the same as --format json") { @options[:format] = "json" }
        parser.on("-o", "--output FILE", "write to FILE; its end says the format, unless --format does") do |path|
          @options[:output] = output_name(path)
        end
        parser.on("--log LOG", "growth over time from a growth log, for html; may be repeated") do |path|
          (@options[:logs] ||= []) << path
        end
        parser.on("--merge", "add the processes that were forked from it") { @options[:merge] = true }
        define_capture(parser)
      end

      # What only captures have.
      def define_capture(parser)
        parser.on("--tree", "of a capture: call paths") { @options[:tree] = true }
        parser.on("--bottom-up", "of a capture: from who allocated to the callers") do
          @options[:tree] = @options[:bottom_up] = true
        end
        parser.on("--flame", "of a capture: call paths as a picture (SVG)") { @options[:flame] = true }
        parser.on("--timeline", "of a capture: what was live when") { @options[:timeline] = true }
        metrics = CaptureReport::METRICS
        parser.on("--metric NAME", metrics, "of a capture: by #{metrics.join(", ")}") do |value|
          @options[:metric] = value.to_sym
        end
        CaptureChoice.define(parser, @options)
      end

      def capture_report(path)
        CaptureReport.new(path, @options, env: @env, out: @out, err: @err).call
      end

      # What was asked for must have an effect, or be an error.
      def refuse_for_counts
        alien = @options.keys & CaptureReport::ALONE
        raise UsageError, "--#{alien.first.to_s.tr("_", "-")} is for captures (heapline record)" unless alien.empty?

        by = @options[:by].to_s
        raise UsageError, "sums by #{by} are for captures: #{GROUPS.join(", ")}" unless by.empty? || GROUPS.include?(by)
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
        ask(source)
        snapshot = Source.read(source, directory)
        @options[:merge] ? Model::ProcessTree.merge(snapshot, children(snapshot)) : snapshot
      end

      # A running process counts its object heap when it is asked. One that does not answer soon is shown with what it
      # told last.
      def ask(source)
        entry = directory.find(source.to_i) if live?(source)
        Model::Inquiry.new(entry).ask(timeout: PATIENCE) if entry&.alive?
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
        format = Rendering.format(name, memory: memory(snapshot), ledger: ledger(snapshot, source),
                                        growth: growth(snapshot), directory: Dir.pwd, env: @env,
                                        more: output ? [] : NextSteps.for_report(snapshot, source, @options),
                                        **@options.slice(:top, :sort, :min, :by, :objects))
        if output
          OutputFile.write(output) { |file| format.render(snapshot, file) }
        else
          Rendering.show(format, snapshot, @out)
        end
      end

      def output_name(path)
        return path unless path.end_with?(".heapline")

        raise UsageError, "#{path} is a flight file's name: heapline snapshot PID -o #{path} writes one"
      end

      def name
        @options[:format] || (output ? Format.of_file(output) : "text")
      end

      def output
        @options[:output]
      end

      # A file may be older than the process is now; several processes share pages.
      def live?(source)
        source.match?(PID) && !@options[:merge]
      end

      def ledger(snapshot, source)
        Model::Ledger.read(snapshot, drill: name == "html") if live?(source)
      end

      # What the logs know of the process, or of all that are merged.
      def growth(snapshot)
        return nil unless (logs = @options[:logs])

        require_relative "../growth_reader"
        reader = GrowthReader.new(logs, pids: @options[:merge] ? [] : [snapshot.pid])
        growth = reader.read
        reader.problems.each { |problem| @err.puts "heapline: #{Format::Inert.text(problem)}" }
        raise Error, "no line of process #{snapshot.pid} in #{logs.join(" ")}" if growth.processes.empty?

        growth
      end

      # What the kernel says of several processes does not add up: they share pages.
      def memory(snapshot)
        Model::ProcessMemory.read(snapshot.pid) if snapshot.state == :running && !@options[:merge]
      end
    end
  end
end
