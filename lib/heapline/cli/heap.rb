# frozen_string_literal: true

require_relative "command"

module Heapline
  module CLI
    # `heapline heap`: what has commands of its own.
    class Heap < Command
      USAGE_LINE = "heap COMMAND …"
      SUMMARY = "Ask heap dumps what is in them, what grew, and who holds it"
      PREFIX = "heap "

      def call(argv)
        name = argv.first
        raise UsageError, "no such command: heap #{name}; there are #{names.join(", ")}" if name&.match?(/\A[^-]/)

        @out.puts parser.help
        name.nil? || SHORT.key?(name) ? OK : USAGE
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
  end
end
