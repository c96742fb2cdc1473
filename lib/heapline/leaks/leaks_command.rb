# frozen_string_literal: true

require_relative "../command/child"
require_relative "../command/base"
require_relative "command_run"
require_relative "running"
require_relative "loss_rules"
require_relative "../files/output_file"
require_relative "../figures/typed"

module Heapline
  module Leaks
    # `heapline leaks CMD`, `heapline leaks PID`: the blocks that nothing leads to any more, at the end of a program or
    # now.
    class LeaksCommand < Command::Base
      include LossRules

      USAGE_LINE = "leaks [options] PID | leaks [options] [--] COMMAND [ARGUMENTS]"
      SUMMARY = "Find lost blocks: at the end of a command, or in a running process"
      FORMATS = { "text" => ["text", :Text], "json" => ["json", :Json],
                  "junit" => ["junit", :Junit], "html" => ["html", :Html] }.freeze
      ENDINGS = { ".json" => "json", ".xml" => "junit", ".html" => "html" }.freeze
      KINDS = %i[definite indirect possible].freeze

      def call(argv)
        words = parse_pid_or_command(argv)
        raise UsageError, "which process, or which command? heapline leaks ruby app.rb" if words.empty?

        reader # what is wrong with the rules and with the output is said before the command runs
        Files::OutputFile.check(@options[:output]) if @options[:output]
        run = pid?(words) ? running(words) : command(words, argv)
        @status = run.status
        return @status unless run.texts

        show(findings(run))
        say_unused_suppressions
        @status
      end

      private

      def define(parser)
        parser.on("--show-reachable", "also blocks that something still points to") { @options[:reachable] = true }
        parser.on("--since BASELINE", %w[baseline], "`baseline`: only blocks born since the process's last baseline") do
          @options[:since] = true
        end
        parser.on("--quarantine", "for a command: use freed memory again later, so that old pointers hide " \
                                  "fewer losses") { @options[:quarantine] = true }
        parser.on("--any", "for a command: search programs that are not Ruby too") { @options[:any] = true }
        define_loss_rules(parser)
        define_output(parser)
      end

      def define_output(parser)
        define_format(parser, FORMATS.keys)
        super
        parser.on("--top N", "N records of each kind (0: all)") do |value|
          @options[:top] = Figures::Typed.count(value)
        end
        parser.on("--timeout S", "for a PID: wait S seconds for the answer (60)") do |value|
          @options[:timeout] = Figures::Typed.seconds(value, zero: true)
        end
      end

      # The rest is the command's.
      def parsing
        :order
      end

      def running(words)
        if @options[:quarantine]
          raise UsageError,
                "--quarantine is for a command: start it with heapline --blocks --quarantine"
        end

        raise UsageError, "--any is for a command" if @options[:any]

        Running.new(words, @env, @err, **@options.slice(:since, :reachable, :timeout))
      end

      def command(words, argv)
        @child = Command::Child.new(words, @env["PATH"], err: @err)
        CommandRun.new(@child, @env, @out, @err, argv: argv, **@options.slice(:since, :reachable, :quarantine, :any))
      end

      # Findings; the exit status follows, unless the command has one of its own.
      def findings(run)
        @status = Command::FAILED if run.status.zero? # where they cannot be read
        findings = reader.read_all(run.texts)
        @status = findings.lost? ? Command::FOUND : Command::OK if run.status.zero?
        findings
      end

      def show(leaks)
        @err.puts symbols_hint if leaks.any? && !Places::Symbols.new(@env).tool
        format = format(format_name(ENDINGS))
        return format.render(leaks, @out) unless @options[:output]

        Files::OutputFile.write(@options[:output]) { |file| format.render(leaks, file) }
        @err.puts "heapline: wrote #{@options[:output]}"
      end

      def symbols_hint
        "heapline: functions have no names: none of #{Places::Symbols::TOOLS.join(", ")} is there; " \
          "#{Places::Symbols::PACKAGES}"
      end

      def format(name)
        file, type = FORMATS[name]
        require_relative file
        kinds = @options[:reachable] ? [*KINDS, :reachable] : KINDS
        options = { kinds: kinds }
        options.merge!(top: @options.fetch(:top, 0), directory: Command.here, env: @env) if name == "text"
        Leaks.const_get(type).new(**options)
      end
    end
  end
end
