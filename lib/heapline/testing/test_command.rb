# frozen_string_literal: true

require "json"
require_relative "suite_text"
require_relative "suite/losses"
require_relative "suite/results"
require_relative "../command/child"
require_relative "../command/base"
require_relative "../command/installation"
require_relative "../leaks/end_searches"
require_relative "../leaks/loss_rules"
require_relative "../files/output_file"
require_relative "../figures/typed"

module Heapline
  module Testing
    # `heapline test -- CMD`: runs a test suite as it is, and says at its end what each test did to memory.
    class TestCommand < Command::Base
      include Leaks::LossRules

      USAGE_LINE = "test [options] [--] COMMAND [ARGUMENTS]"
      SUMMARY = "Run a test suite unchanged, and say what memory each test leaves behind, needs and allocates"
      HOOK = File.join(Command::Installation::LIB, "heapline", "testing", "suite", "hook.rb")
      FAILURES = %w[growth leaks].freeze

      def call(argv)
        words = parse(argv)
        raise UsageError, "which command runs the tests? heapline test -- bundle exec rake test" if words.empty?

        reader # what is wrong with the rules and with the output is said before the tests run
        Files::OutputFile.check(@options[:output]) if @options[:output]
        program = Command::Program.new(words.first, @env["PATH"])
        return refuse(program) if program.problem

        Command::Child.in_scratch("heapline-suite") do |directory|
          @child = Command::Child.new(suite(words), @env["PATH"], err: @err)
          report(directory) if @child.run(environment(directory))
        end
        status
      end

      private

      def define(parser)
        parser.on("--fail-on LIST", "growth: run each test that leaves something behind again and again, and fail " \
                                    "(status 1) if one grows; leaks: look for lost blocks, and fail if there " \
                                    "is one") { |list| @options[:fail_on] = failures(list) }
        define_loss_rules(parser)
        parser.on("--by GROUP", "test (unless given) or file") { |by| @options[:by] = group(by) }
        parser.on("--sort KEY", "sort by #{SuiteText::KEYS.join(", ")}") { |key| @options[:sort] = sort(key) }
        define_top(parser, "tests shown", rows: 10)
        define_format(parser, %w[text json], "text, json: format of what is printed at the end, on standard error")
        parser.on("-o", "--output FILE", "write all figures of all tests to FILE, as JSON") do |file|
          @options[:output] = File.expand_path(file)
        end
      end

      # The rest is the command's.
      def parsing
        :order
      end

      def failures(list)
        list.split(",").each do |name|
          raise UsageError, "--fail-on #{name}: there is #{FAILURES.join(", ")}" unless FAILURES.include?(name)
        end
      end

      def group(name)
        %w[test file].include?(name) ? name.to_sym : raise(UsageError, "--by #{name}: there are test and file")
      end

      def sort(name)
        SuiteText::KEYS.find { |key| key.to_s == name } ||
          raise(UsageError, "no such sort key: #{name}; there are #{SuiteText::KEYS.join(", ")}")
      end

      def refuse(program)
        @status = program.status
        Command.say(@err, program.problem)
        @status
      end

      # The suite under heapline. Live blocks are kept, so that what grows or is lost has its C functions.
      def suite(words)
        Command::Installation.own_process("run", "--quiet", "--blocks", "--", *words)
      end

      # What the suite's environment has beyond this one's. RUBYOPT parts its words by spaces.
      def environment(directory)
        raise Error, "RUBYOPT cannot name #{HOOK}: there is a space in it; install heapline elsewhere" if HOOK =~ /\s/

        settings = JSON.generate({ growth: fail_on?("growth") })
        File.write(File.join(directory, Suite::Results::SETTINGS), settings, perm: 0o600)
        { "RUBYOPT" => ["-r#{HOOK.delete_suffix(".rb")}", @env["RUBYOPT"]].compact.join(" "),
          "HEAPLINE_SUITE" => [directory, *Command::Installation.libraries].join("\x1f"),
          Leaks::EndSearches::VARIABLE => (Leaks::EndSearches.asked(directory, [:apart]) if fail_on?("leaks")) }
      end

      def fail_on?(what)
        @options.fetch(:fail_on, []).include?(what)
      end

      # The exit status is the suite's own; where that is good, whether what was asked for holds.
      def report(directory)
        own = status
        @status = Command::FAILED if own.zero? && @options[:fail_on] # where the tests cannot be judged
        tests = Suite::Results.read(directory)
        losses = Suite::Losses.new(tests, directory, reader) if fail_on?("leaks")
        tests = losses.tests if losses
        @status = own.zero? ? verdict(tests, losses) : own
        write(tests, losses) if @options[:output]
      ensure
        show(tests, losses) if tests
      end

      def verdict(tests, losses)
        return Command::FOUND if losses&.any? || tests.any?(&:grows)

        losses&.blind? ? Command::FAILED : Command::OK
      end

      def show(tests, losses)
        return json(losses).render(tests, @err) if json?

        SuiteText.new(**@options.slice(:top, :sort, :by), losses: losses, directory: Command.here, env: @env)
                 .render(tests, @err)
        say_unused_suppressions if losses
      end

      def write(tests, losses)
        Files::OutputFile.write(@options[:output]) { |io| json(losses).render(tests, io) }
      end

      def json(losses)
        require_relative "suite_json"
        SuiteJson.new(losses: losses)
      end
    end
  end
end
