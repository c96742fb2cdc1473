# frozen_string_literal: true

require "optparse"
require_relative "../errors"

module Heapline
  module CLI
    # What all commands share: where they read and write, and how options are parsed.
    class Command
      def initialize(env: ENV, out: $stdout, err: $stderr)
        @env = env
        @out = out
        @err = err
        @options = {}
      end

      # The options of this command (OptionParser); its text is what `heapline help COMMAND` shows.
      def parser
        OptionParser.new(nil, 24, "  ") do |options|
          options.banner = "usage: heapline #{self.class::USAGE_LINE}"
          options.separator ""
          options.separator "#{self.class::SUMMARY}."
          options.separator ""
          define(options)
        end
      end

      private

      # Overridden by commands that have options.
      def define(_options); end

      # Options may stand anywhere. Overridden with :order by commands whose arguments are another command: there they
      # end at the first word that is none.
      def parsing
        :permute
      end

      # Options out of `argv`; the arguments that are left.
      def parse(argv)
        parser.public_send(parsing, argv)
      rescue OptionParser::ParseError => e
        raise UsageError, e.message
      end
    end
  end
end
