# frozen_string_literal: true

require_relative "flight_directory"
require_relative "../command/child"
require_relative "../command/base"
require_relative "../command/installation"
require_relative "run_environment"
require_relative "run_options"

module Heapline
  module Accounting
    # `heapline CMD`: becomes CMD with the core preloaded. The process stays the same: nothing of heapline's own waits
    # beside it, and signals, terminal and exit status are the program's.
    class RunCommand < Command::Base
      USAGE_LINE = "[run] [options] [--] COMMAND [ARGUMENTS]"
      SUMMARY = "Run a command, count its every malloc, and report at its end which lines hold the memory"

      # Does not return where the program could be started.
      def call(argv)
        words = parse(argv)
        raise UsageError, "which command is to be run? heapline ruby leak.rb" if words.empty?

        environment = environment()
        check(@options[:output]) if @options[:output]
        FlightDirectory.new(@env).prune
        @out.flush
        @child = Command::Child.new(words, @env["PATH"], err: @err)
        say_uncounted(words.first) if @child.other_ruby? && !RunOptions.from_env(environment["HEAPLINE"])[:any]
        @child.replace(environment)
      end

      # What the program's environment has beyond this one's (Hash).
      def environment
        RunEnvironment.new(@env, @options).changes.merge("HEAPLINE_TOP" => top, "HEAPLINE_REPORTER" => reporter)
      end

      private

      def check(output)
        require_relative "../files/output_file" # not before each program that heapline becomes
        Files::OutputFile.check(output)
      end

      def say_uncounted(name)
        Command.say(@err, "#{name} is not CRuby: its memory is not counted (native memory: heapline --any #{name})")
      end

      # This process, which becomes the program.
      def top
        ProcessIdentity.of(Process.pid)&.stem || Process.pid.to_s
      end

      def define(parser)
        RunOptions.define(parser, RunOptions::ALL, @options)
        parser.separator ""
        parser.separator "HEAPLINE=key:value,key:value sets the same options: #{RunOptions::KEYS.keys.join(", ")}."
      end

      # The rest is the command's.
      def parsing
        :order
      end

      def reporter
        Command::Installation.reporter.join("\x1f")
      end
    end
  end
end
