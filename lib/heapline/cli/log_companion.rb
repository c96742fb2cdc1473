# frozen_string_literal: true

require_relative "../growth_log/files"
require_relative "../growth_log/pipe"
require_relative "../growth_log/settings"
require_relative "../growth_log/writer"
require_relative "command"
require_relative "run_options"

module Heapline
  module CLI
    # `heapline log --companion … PID`: started by the core beside an accounted program; follows the tree of PID until
    # nothing is left of it. Options that are not given come from HEAPLINE.
    class LogCompanion < Command
      USAGE_LINE = "log --companion [options] PID"
      SUMMARY = "Write the growth log of a program and all its processes (used by heapline itself)"
      # Seconds without any process before the tree counts as ended.
      GRACE = 1.0
      # A service manager ends all processes of a service at once; the last line comes after the program's end.
      ENDURED = %w[HUP INT TERM XFSZ].freeze

      def call(argv)
        ENDURED.each { |signal| trap(signal, "IGNORE") }
        @top = Size.count(parse(argv).first)
        @options = RunOptions.from_env(@env["HEAPLINE"]).merge(@options)
        @directory = Model::FlightDirectory.new(@env)
        Dir.chdir("/")
        run
        OK
      end

      private

      def define(parser)
        parser.on("--flight FD", "flight file of the process that starts it") { |fd| @options[:flight] = fd.to_i }
        parser.on("--control FD", "what can be read there says stop") { |fd| @options[:control] = fd.to_i }
        parser.on("--pipe FD", "write there instead of into a file") { |fd| @options[:pipe] = fd.to_i }
        RunOptions::ALL.select { |option| %i[log every top rss].include?(option.key) }.each do |option|
          parser.on(*option.switch, option.help) { |value| @options[option.key] = RunOptions.convert(option, value) }
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
        File.unlink(File.join(@directory.path, "#{@top}.companion")) if @options[:flight]
      rescue SystemCallError
        nil # no harm: it is empty, and used again
      end

      def writer(tree, settings)
        GrowthLog::Writer.new(tree: tree, sink: sink, settings: settings, grace: GRACE, fallback: @directory.path,
                              roots: [Model::ProcessIdentity.of(@top)].compact, control: io(:control, "r"),
                              idle: -> { @err.reopen(File::NULL) })
      end

      def sink
        @options[:pipe] ? GrowthLog::Pipe.new(io(:pipe, "w")) : GrowthLog::Files.new(@options.fetch(:log), err: @err)
      end

      # The IO of a descriptor that was given, or nil.
      def io(option, mode)
        File.for_fd(@options[option], mode) if @options[option]
      end
    end
  end
end
