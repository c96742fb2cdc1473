# frozen_string_literal: true

require_relative "log/sinks"
require_relative "log/writer"
require_relative "../command/base"
require_relative "../figures/typed"
require_relative "../accounting/run_options"
require_relative "../processes/takeover"

module Heapline
  module Growth
    # `heapline log PID…`: writes the growth log of running processes without touching them.
    class LogCommand < Command::Base
      USAGE_LINE = "log [options] PID…"
      SUMMARY = "Write a growth log: which lines hold the memory of running processes, at intervals"

      def call(argv)
        return companion(argv) if argv.first == "--companion"

        pids = parse(argv).map { |word| pid(word) }
        raise UsageError, "whose log? give one or more PIDs" if pids.empty?

        check(pids)
        writer(pids).run
        Command::OK
      rescue Interrupt
        Command::OK # that is how one ends it
      end

      private

      def define(parser)
        parser.on("--every S", "seconds between two lines of a process (60)") do |value|
          @options[:every] = Figures::Typed.seconds(value)
        end
        parser.on("-o", "--output FILE", "append to FILE (standard output); %p: the pid, %h: the host") do |value|
          @options[:output] = Figures::Typed.pattern(value)
        end
        parser.on("--top N", "list the first N sites by growth, by live and by rate (20)") do |value|
          @options[:top] = Figures::Typed.count(value)
        end
        parser.on("--rss BYTES", "copy the flight file once RSS reaches BYTES") do |value|
          @options[:rss] = Figures::Typed.bytes(value)
        end
        parser.on("--log-max BYTES",
                  "the most that FILE and FILE.1, its older half, may have together (100M; 0: no limit)") do |value|
          @options[:max] = Figures::Typed.bytes(value)
        end
      end

      # What is started beside an accounted program.
      def companion(argv)
        LogCompanion.new(env: @env, out: @out, err: @err).call(argv.drop(1))
      end

      def pid(word)
        raise UsageError, "not a pid: #{word}" unless word.match?(/\A[1-9]\d{0,9}\z/)

        word.to_i
      end

      def check(pids)
        pids.each do |pid|
          next if Processes::Takeover.await([directory.fetch(pid)]).first.alive?

          raise FlightError, "process #{pid} has ended: heapline report #{pid} shows it"
        end
      end

      def directory
        @directory ||= Accounting::FlightDirectory.new(@env)
      end

      def writer(pids)
        settings = GrowthLog::Settings.new(**@options.slice(:every, :top, :rss))
        output = @options[:output]
        sink = output ? GrowthLog::Files.new(output, max: @options[:max], err: @err) : GrowthLog::Stream.new(@out)
        GrowthLog::Writer.new(tree: GrowthLog::Tree.new(directory, pids, settings), sink: sink, settings: settings,
                              fallback: directory.path)
      end
    end

    # `heapline log --companion … PID`: started by the core beside an accounted program; follows the tree of PID until
    # nothing is left of it. Options that are not given come from HEAPLINE.
    class LogCompanion < Command::Base
      USAGE_LINE = "log --companion [options] PID"
      SUMMARY = "Write the growth log of a program and all its processes (used by heapline itself)"
      # Seconds without any process before the tree counts as ended.
      GRACE = 1.0
      # The descriptor that has the core's lock.
      LOCK = 3
      # A service manager ends all processes of a service at once; the last line comes after the program's end.
      ENDURED = %w[HUP INT TERM XFSZ].freeze

      def call(argv)
        ENDURED.each { |signal| trap(signal, "IGNORE") }
        @top = Figures::Typed.count(parse(argv).first)
        @options = Accounting::RunOptions.from_env(@env["HEAPLINE"]).merge(@options)
        @directory = Accounting::FlightDirectory.new(@env)
        Dir.chdir("/")
        run
        Command::OK
      end

      private

      def define(parser)
        parser.on("--flight FD", "flight file of the process that starts it") { |fd| @options[:flight] = fd.to_i }
        parser.on("--control FD", "what can be read there says stop") { |fd| @options[:control] = fd.to_i }
        parser.on("--pipe FD", "write there instead of into a file") { |fd| @options[:pipe] = fd.to_i }
        %i[log every top rss logmax].map { |key| Accounting::RunOptions::KEYS.fetch(key) }.each do |option|
          parser.on(*option.switch, option.help) do |value|
            @options[option.key] = Accounting::RunOptions.convert(option, value)
          end
        end
      end

      def run
        settings = GrowthLog::Settings.new(**@options.slice(:every, :top, :rss))
        tree = GrowthLog::Tree.new(@directory, [@top], settings)
        writer = writer(tree, settings)
        writer.add(tree.adopt(io(:flight, "r"))) if @options[:flight]
        writer.run
      ensure
        unlock
      end

      # The core's mark that this tree has its companion: it was locked by a descriptor that this process has had from
      # its start, and goes with it.
      def unlock
        mark = File.readlink("/proc/self/fd/#{LOCK}") if @options[:flight]
        File.unlink(mark) if mark&.end_with?(".companion")
      rescue SystemCallError
        nil # no harm: it is empty, and `heapline ps --clean` removes it
      end

      def writer(tree, settings)
        GrowthLog::Writer.new(tree: tree, sink: sink, settings: settings, grace: GRACE, fallback: @directory.path,
                              roots: [Accounting::ProcessIdentity.of(@top)].compact, control: io(:control, "r"),
                              idle: -> { @err.reopen(File::NULL) })
      end

      def sink
        return GrowthLog::Pipe.new(io(:pipe, "w")) if @options[:pipe]

        GrowthLog::Files.new(@options.fetch(:log), max: @options[:logmax], err: @err)
      end

      # The IO of a descriptor that was given, or nil.
      def io(option, mode)
        File.for_fd(@options[option], mode) if @options[option]
      end
    end
  end
end
