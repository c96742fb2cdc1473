# frozen_string_literal: true

require_relative "../errors"
require_relative "../figures/typed"

module Heapline
  # What commands are made of: how options are parsed, programs run, and files of the installation found.
  # @api private
  module Command
    # Exit statuses; docs/cli.md has them for users.
    OK = 0
    FOUND = 1 # the answer is there, and tells that something is wrong
    USAGE = 2
    FAILED = 3 # there is no answer
    NOT_EXECUTABLE = 126
    NOT_FOUND = 127

    # A line of ours on standard error, where that can be written: where not, that is no harm.
    def self.say(err, message)
      err.puts "heapline: #{message}"
    rescue SystemCallError, IOError
      nil
    end

    # What corrects words (Class), or nil. Ruby loads it together with RubyGems, which heapline starts without.
    def self.spelling
      require "did_you_mean"
      DidYouMean::SpellChecker
    rescue LoadError
      nil
    end

    # The process that `words` are: one PID and nothing else (Integer). Raises UsageError.
    def self.pid(words)
      pid, *others = words
      raise UsageError, "which process? give one PID" unless pid.to_s.match?(Base::PID) && others.empty?

      pid.to_i
    end

    # The working directory, for paths that are shown as they would be typed; nil where it has been deleted.
    def self.here
      Dir.pwd
    rescue SystemCallError
      nil
    end

    # What all commands share: where they read and write, and how options are parsed.
    class Base
      # A process, and no file, on a command line.
      PID = /\A\d{1,10}\z/

      def initialize(env: ENV, out: $stdout, err: $stderr)
        @env = env
        @out = out
        @err = err
        @options = {}
      end

      # The exit status as far as it is known, or nil: above all that of the program that this command ran. Whatever
      # happens to what is still to be written, this is it.
      def status
        @status || @child&.status
      end

      # The options of this command (OptionParser); its text is what `heapline help COMMAND` shows.
      def parser
        require "optparse" # not before each program that heapline becomes
        OptionParser.new(nil, 24, "  ") do |options|
          options.banner = "usage: heapline #{self.class::USAGE_LINE}"
          options.separator ""
          options.separator "#{self.class::SUMMARY}."
          options.separator ""
          define(options.extend(Naming))
        end
      end

      # Of what defines options: who reads a value need not know whose it is.
      module Naming
        def on(*words, &block)
          name = words.grep(/\A--/).first.to_s[/\A--[\w-]+/]
          super { |value| Figures::Typed.named(name) { block.call(value) } }
        end
      end

      # Defines options as OptionParser does, and takes those that a command line has in full: for these that is not
      # loaded, which would be a third of the start.
      class InFull
        def initialize
          @flags = {}
          @valued = {}
        end

        def on(*words, &block)
          names = words.take_while { |word| word.to_s.start_with?("-") }
          return if names.last.match?(/[\[=]/) || !words.all?(String)

          known = names.last.include?(" ") ? @valued : @flags
          names.each { |name| known[name[/\A[\w-]+/]] = block }
        end

        def separator(_line); end

        # [the arguments, the words that are left: from the first one on that is for OptionParser]. mixed: may options
        # stand behind arguments?
        def take(words, mixed:)
          left = words.dup
          arguments = []
          while (word = left.first)
            next arguments << left.shift if mixed && (word == "-" || !word.start_with?("-"))
            break unless @flags.key?(word) || (@valued.key?(word) && left.size > 1)

            left.shift
            @flags.key?(word) ? @flags[word].call(!word.start_with?("--no-")) : @valued[word].call(left.shift)
          end
          [arguments, left]
        end
      end
      private_constant :Naming, :InFull

      private

      # Overridden by commands that have options.
      def define(_options); end

      # Options that several commands have, with one meaning. rows: how many there are where it is not said.
      def define_top(parser, words = "rows", rows: 20)
        parser.on("--top N", "#{words} (#{rows}; 0: all)") { |value| @options[:top] = Figures::Typed.count(value) }
      end

      # Text is the first of them, and what there is where it is not said.
      def define_format(parser, names, words = names.join(", "))
        parser.on("--format NAME", *([names] if names), words) { |value| @options[:format] = value }
        parser.on("--json", "the same as --format json") { @options[:format] = "json" }
      end

      def json?
        @options[:format] == "json"
      end

      # What was asked for, or what the end of the output's name says. endings: of names => formats.
      def format_name(endings)
        @options[:format] || endings.fetch(File.extname(@options[:output].to_s), "text")
      end

      def define_output(parser, words = "write to FILE; its extension sets the format, unless --format does")
        parser.on("-o", "--output FILE", words) { |path| @options[:output] = path }
      end

      # Options may stand anywhere. Overridden with :order by commands whose arguments are another command: there they
      # end at the first word that is none.
      def parsing
        :permute
      end

      # Options out of `argv`; the arguments that are left.
      def parse(argv)
        known = InFull.new.extend(Naming)
        define(known)
        arguments, left = known.take(argv, mixed: parsing == :permute)
        left.first&.start_with?("-") ? arguments + parse_further(left) : arguments + left
      end

      def parse_further(words)
        options = parser
        options.public_send(parsing, words)
      rescue OptionParser::ParseError => e
        raise UsageError, wrong(options, e)
      end

      # In one line: an unknown value with those that the option takes, an unknown option with those that are like it.
      def wrong(options, error)
        Command.spelling # which OptionParser asks where it is loaded
        name, value = error.args.join("=").split("=", 2)
        values = options.top.long[name.delete_prefix("--")]&.pattern if value
        return "#{name} takes #{values.keys.join(", ")}, not #{value}" if values.is_a?(Hash)

        message, meant = error.message.split("\nDid you mean?")
        meant ? "#{message}; is it #{meant.split.map { |like| "--#{like}" }.join(" or ")}?" : message
      end

      # The same for those that are about a process or a command: the words behind a command are its own, but behind a
      # PID there is nobody whose options they could be.
      def parse_pid_or_command(argv)
        first, *others = words = parse(argv)
        pid?(words) ? [first, *parse(others)] : words
      end

      def pid?(words)
        words.first&.match?(PID)
      end
    end
  end
end
