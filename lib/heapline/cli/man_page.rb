# frozen_string_literal: true

require_relative "../version"

module Heapline
  module CLI
    # The manual page, as man and groff read it. Like `heapline help` it is made of COMMANDS, PURPOSES and what each
    # command declares to its parser, when it is asked for: it cannot be older than what it describes.
    class ManPage
      def text
        [*head, *PURPOSES.flat_map { |purpose, names| section(purpose, names) }, ".SH SEE ALSO",
         plain("docs/cli.md of the gem explains each option, the exit statuses and the environment.")].join("\n")
      end

      private

      # Lines are neither hyphenated nor stretched.
      def head
        steps = HelpCommand::START.lines(chomp: true).drop(2).map { |line| plain(line.strip) }
        [%(.TH HEAPLINE 1 "" "heapline #{VERSION}" "User Commands"), ".nh", ".ad l",
         ".SH NAME", "heapline \\- tell which line of Ruby holds the memory",
         ".SH SYNOPSIS", *usages(CLI.command("run")), *usage("COMMAND [options] [arguments]"),
         ".SH FIRST STEPS", ".nf", *steps, ".fi"]
      end

      def section(purpose, names)
        names = names.flat_map { |name| [name, *COMMANDS.keys.grep(/\A#{name} /)] }
        [".SH #{plain(purpose.upcase)}", *names.flat_map { |name| command(name, CLI.command(name)) }]
      end

      def command(name, type)
        options = type.new.parser.top.list.grep(OptionParser::Switch)
        [".SS heapline #{name}", *usages(type), ".PP", plain("#{type::SUMMARY}."),
         *options.flat_map { |option| [".TP", bold(names(option)), plain(option.desc.join(" "))] }, *example(name)]
      end

      def example(name)
        lines = HelpCommand.example(name)
        lines.empty? ? [] : [".PP", "For example:", ".PP", ".nf", *lines.map { |line| plain(line) }, ".fi"]
      end

      def usages(type)
        line = type::USAGE_LINE
        line.split(/ \| (?=#{line[/\w+/]} )/).flat_map { |one| usage(one) }
      end

      def usage(line)
        [bold("heapline #{line}"), ".br"]
      end

      def names(switch)
        "#{(switch.short + switch.long).join(", ")}#{switch.arg}"
      end

      def bold(words)
        "\\fB#{plain(words)}\\fR"
      end

      # A line that groff prints as it is.
      def plain(words)
        words.gsub("\\", "\\e").gsub("-", "\\-").sub(/\A(?=[.'])/, "\\\\&")
      end
    end
  end
end
