# frozen_string_literal: true

require_relative "../model/flight_directory"
require_relative "command"
require_relative "installation"
require_relative "program"
require_relative "run_options"

module Heapline
  module CLI
    # `heapline CMD`: becomes CMD with the core preloaded. The process stays the same: nothing of heapline's own waits
    # beside it, and signals, terminal and exit status are the program's.
    class Run < Command
      USAGE_LINE = "[run] [options] [--] COMMAND [ARGUMENTS]"
      SUMMARY = "Run a command with every malloc accounted, and report at its end which lines hold the memory"

      # Does not return where the program could be started.
      def call(argv)
        words = parse(argv)
        raise UsageError, "which command is to be run? heapline ruby leak.rb" if words.empty?

        program = Program.new(words.first, @env["PATH"])
        return refuse(program.problem, program.status) if program.problem

        Model::FlightDirectory.new(@env).prune
        execute(environment, program.path, words)
      end

      # What the program's environment has beyond this one's (Hash).
      def environment
        options = RunOptions.from_env(@env["HEAPLINE"]).merge(@options)
        aim(options) if options[:output]
        options[:log] &&= File.expand_path(options[:log])
        options[:blocks] ||= options[:mwrap] # SourceLocation#each
        changes = { "LD_PRELOAD" => preload, "HEAPLINE" => RunOptions.to_env(options),
                    "HEAPLINE_TOP" => Process.pid.to_s, "HEAPLINE_REPORTER" => Installation.reporter.join("\x1f") }
        changes["HEAPLINE_COMPANION"] = options[:log] && Installation.companion.join("\x1f")
        changes.merge(options[:mwrap] ? mwrap : {})
      end

      private

      def define(parser)
        RunOptions::ALL.each do |option|
          parser.on(*option.switch, option.help) do |value|
            @options[option.key] = RunOptions.convert(option, option.kind == :flag ? true : value)
          end
        end
        parser.separator ""
        parser.separator "HEAPLINE=key:value,key:value sets the same: #{RunOptions::KEYS.keys.join(", ")}."
      end

      # The rest is the command's.
      def parsing
        :order
      end

      # Ours first, so that it sees every call; what was there stays: it may be an allocator.
      def preload
        core = Installation.preloadable_core
        [core, *@env["LD_PRELOAD"].to_s.split(/[\s:]+/).reject { |path| path.empty? || path == core }].join(":")
      end

      # `require "mwrap"` finds ours. Where a dump is asked for, the program need not require it.
      def mwrap
        changes = { "RUBYLIB" => first_of(Installation::COMPAT, @env["RUBYLIB"]) }
        changes["RUBYOPT"] = "#{@env["RUBYOPT"]} -rmwrap".lstrip unless @env["MWRAP"].to_s.empty?
        changes
      end

      # The program may change its directory. A file that is asked for is written, quiet or not.
      def aim(options)
        options[:output] = File.expand_path(options[:output])
        options.delete(:quiet)
      end

      def first_of(directory, list)
        [directory, *list.to_s.split(":").reject { |path| path == directory }].join(":")
      end

      def execute(environment, path, words)
        @out.flush
        Kernel.exec(environment, [path, words.first], *words.drop(1))
      rescue Errno::ENOENT
        refuse("#{words.first}: its interpreter (the #! line) does not exist", NOT_FOUND)
      rescue SystemCallError => e
        refuse("#{words.first}: #{e.message}", NOT_EXECUTABLE)
      end

      def refuse(problem, status)
        @err.puts "heapline: #{problem}"
        status
      end
    end
  end
end
