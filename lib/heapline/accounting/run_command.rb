# frozen_string_literal: true

require_relative "flight_directory"
require_relative "../command/child"
require_relative "../command/base"
require_relative "../command/installation"
require_relative "../files/output_file"
require_relative "run_options"

module Heapline
  module Accounting
    # `heapline CMD`: becomes CMD with the core preloaded. The process stays the same: nothing of heapline's own waits
    # beside it, and signals, terminal and exit status are the program's.
    class RunCommand < Command::Base
      USAGE_LINE = "[run] [options] [--] COMMAND [ARGUMENTS]"
      SUMMARY = "Run a command with every malloc accounted, and report at its end which lines hold the memory"

      # Does not return where the program could be started.
      def call(argv)
        words = parse(argv)
        raise UsageError, "which command is to be run? heapline ruby leak.rb" if words.empty?

        environment = environment()
        Files::OutputFile.check(@options[:output]) if @options[:output]
        FlightDirectory.new(@env).prune
        @out.flush
        @child = Command::Child.new(words, @env["PATH"], err: @err)
        say_uncounted(words.first) if @child.other_ruby? && !RunOptions.from_env(environment["HEAPLINE"])[:any]
        @child.replace(environment)
      end

      # What the program's environment has beyond this one's (Hash).
      def environment
        options = RunOptions.from_env(@env["HEAPLINE"]).merge(@options)
        aim(options) if options[:output]
        options[:log] &&= File.expand_path(options[:log])
        options[:blocks] ||= options[:mwrap] # SourceLocation#each
        changes = { "LD_PRELOAD" => preload, "HEAPLINE" => RunOptions.to_env(options),
                    "HEAPLINE_TOP" => top, "HEAPLINE_REPORTER" => Command::Installation.reporter.join("\x1f") }
        changes["HEAPLINE_COMPANION"] = options[:log] && Command::Installation.companion.join("\x1f")
        changes.merge(options[:mwrap] ? mwrap : {})
      end

      private

      def say_uncounted(name)
        Command.say(@err, "#{name} is not CRuby: its memory is not counted (native memory: heapline --any #{name})")
      end

      # This process, which becomes the program: its pid and start time.
      def top
        own = ProcessIdentity.of(Process.pid)
        own ? "#{own.pid}-#{own.start_ticks}" : Process.pid.to_s
      end

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
        core = Command::Installation.preloadable_core
        [core, *@env["LD_PRELOAD"].to_s.split(/[\s:]+/).reject { |path| path.empty? || path == core }].join(":")
      end

      # `require "mwrap"` finds ours. Where a dump is asked for, the program need not require it.
      def mwrap
        changes = { "RUBYLIB" => first_of(Command::Installation::COMPAT, @env["RUBYLIB"]) }
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
    end
  end
end
