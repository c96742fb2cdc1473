# frozen_string_literal: true

require_relative "command"

module Heapline
  module CLI
    # `heapline help [COMMAND]`
    class Help < Command
      USAGE_LINE = "help [COMMAND]"
      SUMMARY = "Show the commands, or the options of one"

      def call(argv)
        return overview if argv.empty?

        name = argv.join(" ")
        raise UsageError, "no such command: #{name}; there are #{COMMANDS.keys.join(", ")}" unless COMMANDS.key?(name)

        @out.puts CLI.command(name).new.parser.help
        OK
      end

      private

      def overview
        @out.puts "heapline tells which line of Ruby holds the memory.", "", "  heapline ruby leak.rb", ""
        COMMANDS.keys.grep_v(/ /).each do |name|
          @out.puts format("  heapline %<name>-10s %<summary>s", name: name, summary: CLI.command(name)::SUMMARY)
        end
        @out.puts "", "heapline help COMMAND shows its options."
        OK
      end
    end
  end
end
