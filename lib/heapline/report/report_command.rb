# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../processes/ledger"
require_relative "../processes/memory_map"
require_relative "../processes/process_tree"
require_relative "../processes/figures_inquiry"
require_relative "../command/next_steps"
require_relative "../objects/snapshot"
require_relative "options"

module Heapline
  module Report
    # `heapline report PID|FILE`: reads one process's counts, alive, hung or dead, or a capture.
    class ReportCommand < Command::Base
      include Options

      USAGE_LINE = "report [options] PID|FILE"
      SUMMARY = "Show which lines hold the memory of a process that runs, hangs or has died, or what was recorded"
      PATIENCE = 0.25 # seconds
      TAGS = 8 # that are named where one is not there

      def call(argv)
        return exit_report(argv) if argv.first == "--exit"

        source, *others = parse(argv)
        raise UsageError, "whose report? give a PID or a file" if source.nil?
        raise UsageError, "one PID or file at a time, not also #{others.join(" ")}" unless others.empty?
        return capture_report(source) if Source.capture?(source)

        refuse_for_counts(Recording::CaptureReport::ALONE - %i[tag])
        raise UsageError, "#{source} is a growth log: heapline growth #{source}" if Source.log?(source)

        snapshot = read(source)
        Objects.demand(snapshot.pid, snapshot.objects) if @options[:objects]
        demand_tag(snapshot) if @options[:tag]
        render(snapshot, source)
        Command::OK
      end

      private

      def define(parser)
        define_rows(parser, keys: Figures::SiteFigures::KEYS,
                            formats: Format::NAMES | Recording::CaptureReport::FORMATS)
        parser.on("--log LOG", "growth over time from a growth log, for html; may be repeated") do |path|
          (@options[:logs] ||= []) << path
        end
        parser.on("--merge", "add the processes that were forked from it") { @options[:merge] = true }
        parser.on("--loading", "only what loading code took, by gem unless --by is given") do
          @options[:loading] = true
        end
        define_capture(parser)
      end

      # What only captures have.
      def define_capture(parser)
        parser.on("--call-tree", "for captures: call paths") { @options[:call_tree] = true }
        parser.on("--bottom-up", "for captures: from the line that allocated to its callers") do
          @options[:call_tree] = @options[:bottom_up] = true
        end
        parser.on("--flame", "for captures: call paths as a picture (SVG)") { @options[:flame] = true }
        parser.on("--timeline", "for captures: live memory over time") { @options[:timeline] = true }
        metrics = Recording::CaptureReport::METRICS
        parser.on("--metric NAME", metrics, "for captures: by #{metrics.join(", ")}") do |value|
          @options[:metric] = value.to_sym
        end
        Recording::FilterOptions.define(parser, @options)
      end

      def capture_report(path)
        Recording::CaptureReport.new(path, @options, env: @env, out: @out, err: @err).call
      end

      # The core calls `report --exit --fd 3` when the accounted program ends.
      def exit_report(argv)
        require_relative "exit_report_command"
        ExitReportCommand.new(env: @env, out: @out, err: @err).call(argv.drop(1))
      end

      def read(source)
        ask(source)
        wanted = Format.wanted(name, **rows) unless @options[:merge]
        snapshot = Source.read(source, directory, wanted: wanted)
        return snapshot unless @options[:merge]

        Accounting::Flight.together { Processes::ProcessTree.merge(snapshot, children(snapshot)) }
      end

      def demand_tag(snapshot)
        tags = snapshot.map { |site| site.tag || Places::SiteCollection::UNNAMED[:tag] }.uniq
        return if tags.include?(@options[:tag])

        raise FlightError, "nothing has the tag #{@options[:tag]} in process #{snapshot.pid}: there are " \
                           "#{tags.first(TAGS).join(", ")}#{" …" if tags.size > TAGS} (heapline report --by tag)"
      end

      # A running process counts its object heap when it is asked. One that does not answer soon is shown with what it
      # told last.
      def ask(source)
        entry = directory.find(source.to_i) if live?(source)
        Processes::FiguresInquiry.new(entry).ask(timeout: PATIENCE) if entry&.alive?
      end

      # Of what runs those that run. Each is read when it is asked for.
      def children(root)
        others = Processes::Takeover.await(directory.entries.reject { |entry| entry.pid == root.pid })
        kin = Processes::ProcessTree.descendants(root, others.filter_map { |entry| kin(entry) })
        found = kin.lazy.filter_map { |one| readable(one.entry) { |path| Accounting::Flight.read(path) } }
        root.state == :running ? found.select { |child| child.state == :running } : found
      end

      def kin(entry)
        readable(entry) { |path| Processes::ProcessTree::Kin.of(entry, Accounting::Flight.header(path)) }
      end

      def readable(entry)
        yield entry.path
      rescue FlightError => e
        @err.puts "heapline: left out: #{e.message}"
        nil
      end

      def render(snapshot, source)
        ledger = ledger(snapshot, source)
        more = @options[:output] ? [] : Command::NextSteps.for_report(snapshot, source, @options, ledger: ledger)
        format = Format.made(name, memory: memory(snapshot), ledger: ledger,
                                   growth: growth(snapshot), directory: Command.here, env: @env, more: more,
                                   **rows)
        write(format, snapshot)
      end

      # A file may be older than the process is now; several processes share pages.
      def live?(source)
        source.match?(PID) && !@options[:merge]
      end

      def ledger(snapshot, source)
        Processes::Ledger.read(snapshot, drill: name == "html") if live?(source)
      end

      # What the logs know of the process, or of all that are merged.
      def growth(snapshot)
        return nil unless (logs = @options[:logs])

        require_relative "../growth/reader"
        reader = GrowthReader.new(logs, pids: @options[:merge] ? [] : [snapshot.pid])
        growth = reader.read
        reader.problems.each { |problem| @err.puts "heapline: #{Inert.text(problem)}" }
        raise Error, "no line of process #{snapshot.pid} in #{logs.join(" ")}" if growth.processes.empty?

        growth
      end

      # What the kernel says of several processes does not add up: they share pages.
      def memory(snapshot)
        Processes::ProcessMemory.read(snapshot.pid) if snapshot.state == :running && !@options[:merge]
      end
    end
  end
end
