# frozen_string_literal: true

require_relative "../command/base"
require_relative "run_environment"

module Heapline
  module Accounting
    # `heapline env`: what to export where heapline cannot stand in front of the command. Each place has its own way of
    # writing a variable and of quoting.
    class EnvCommand < Command::Base
      USAGE_LINE = "env [options]"
      SUMMARY = "Print the environment variables that make heapline count a program, for the place that starts it"
      # Of the report at the end, and of the process that it is about: without `heapline CMD` there is none.
      OF_THE_REPORT = %i[quiet output top sort min gc nofollow].freeze

      FORMS = {
        "shell" => ->(given) { given.map { |name, value| "export #{name}=#{word(value)}" } },
        "systemd" => lambda do |given|
          ["[Service]", *given.map { |name, value| "Environment=#{quoted("#{name}=#{value}").gsub("%", "%%")}" }]
        end,
        "docker" => lambda do |given|
          ["# made on this machine; if the image has the gem elsewhere, run heapline env --for docker inside",
           *given.map { |name, value| "ENV #{name}=#{quoted(value).gsub("$", "\\$")}" }]
        end,
        "procfile" => lambda do |given|
          ["web: env #{given.map { |name, value| "#{name}=#{word(value)}" }.join(" ")} COMMAND"]
        end,
        "kubernetes" => lambda do |given|
          ["env:", *given.flat_map do |name, value|
                     ["  - name: #{name}", "    value: #{quoted(value).gsub("$(", "$$(")}"]
                   end]
        end
      }.freeze

      def call(argv)
        words = parse(argv)
        raise UsageError, "env takes no command: #{words.join(" ")}; heapline #{words.join(" ")} runs it" if words.any?

        given = RunEnvironment.new(@env, @options).changes.reject { |_, value| value.to_s.empty? }
        given["HEAPLINE_COMPANION"] &&= spaced(given["HEAPLINE_COMPANION"])
        @out.puts FORMS.fetch(@form || "shell").call(given)
        Command::OK
      end

      # A word of a shell.
      def self.word(value)
        value.match?(%r{\A[\w/:.,@+=-]+\z}) ? value : "'#{value.gsub("'", "'\\\\''")}'"
      end

      def self.quoted(value)
        "\"#{value.gsub(/["\\]/) { |char| "\\#{char}" }}\""
      end

      private

      def define(parser)
        parser.on("--for PLACE", FORMS.keys, "#{FORMS.keys.join(", ")}: what to write it for (shell)") do |place|
          @form = place
        end
        RunOptions.define(parser, RunOptions::ALL.reject { |one| OF_THE_REPORT.include?(one.key) }, @options)
        parser.separator ""
        parser.separator "There is no report at the end: heapline ps, report and top look at the processes."
        parser.separator "Use it in a shell with: eval \"$(heapline env)\""
      end

      # The core parts a command that has no unit separator at its spaces.
      def spaced(command)
        raise Error, "no growth log this way: a path has a space (#{command.tr("\x1f", " ")})" if command.include?(" ")

        command.tr("\x1f", " ")
      end
    end
  end
end
