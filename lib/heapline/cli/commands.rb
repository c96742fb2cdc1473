# frozen_string_literal: true

require_relative "../command/base"
require_relative "../files/input"
require_relative "../version"

module Heapline
  module CLI
    # `heapline help [COMMAND]`, `heapline help --man`
    class HelpCommand < Command::Base
      USAGE_LINE = "help [COMMAND]"
      SUMMARY = "Show the commands, or the options of one"
      # What `heapline` alone says: what it is, a first step, and where to go on.
      START = <<~TEXT
        heapline tells which line of Ruby holds the memory.

          heapline ruby leak.rb      run a program, and see at its end which lines hold the memory
          heapline ps                list the processes that run with heapline: heapline report PID shows one
          heapline doctor            find out whether heapline works on this machine
          heapline help              list all commands by what they are for
      TEXT

      def call(argv)
        words = parse(argv)
        return manual if @options[:man]
        return overview if words.empty?

        name = words.join(" ")
        return start if name == "start"

        raise UsageError, "no such command: #{name}; there are #{COMMANDS.keys.join(", ")}" unless COMMANDS.key?(name)

        @out.puts CLI.command(name).new.parser.help, example(name)
        Command::OK
      end

      # What the command printed when it was run, with what was typed: lines for a terminal. Without one: none.
      def self.example(name)
        Input.text(File.join(__dir__, "examples/#{name.tr(" ", "_")}.txt")).lines(chomp: true)
      rescue InputError
        []
      end

      private

      def example(name)
        lines = HelpCommand.example(name)
        lines.empty? ? [] : ["", "For example:", "", *lines.map { |line| "  #{line}".rstrip }]
      end

      def define(parser)
        parser.on("--man", "the manual page: heapline help --man | man -l -") { @options[:man] = true }
      end

      def manual
        require_relative "man_page"
        @out.puts ManPage.new.text
        Command::OK
      end

      def start
        @out.puts START
        Command::OK
      end

      def overview
        @out.puts "heapline tells which line of Ruby holds the memory."
        PURPOSES.each do |purpose, names|
          @out.puts "", "#{purpose}:"
          names.each do |name|
            @out.puts format("  heapline %<name>-10s %<summary>s", name: name, summary: CLI.command(name)::SUMMARY)
          end
        end
        @out.puts "",
                  "heapline help COMMAND shows the options of a command, heapline help --man | man -l - all of them."
        Command::OK
      end
    end

    # `heapline heap`: what has commands of its own.
    class HeapCommand < Command::Base
      USAGE_LINE = "heap COMMAND …"
      SUMMARY = "Read heap dumps: what is in them, what grew, and what holds it"
      PREFIX = "heap "

      def call(argv)
        name = argv.first
        raise UsageError, "no such command: heap #{name}; there are #{names.join(", ")}" if name&.match?(/\A[^-]/)

        @out.puts parser.help
        name.nil? || SHORT.key?(name) ? Command::OK : Command::USAGE
      end

      private

      def names
        COMMANDS.keys.select { |name| name.start_with?(PREFIX) }
      end

      def define(parser)
        names.each do |name|
          parser.separator format("  heapline %<name>-16s %<summary>s", name: name, summary: CLI.command(name)::SUMMARY)
        end
        parser.separator ""
        parser.separator "heapline help heap COMMAND shows the options of one."
      end
    end

    # `heapline version`
    class VersionCommand < Command::Base
      USAGE_LINE = "version"
      SUMMARY = "Print heapline's version"

      def call(_argv)
        @out.puts "heapline #{Heapline::VERSION}"
        Command::OK
      end
    end
  end
end
