# frozen_string_literal: true

require "json"
require "tmpdir"
require_relative "../format/suite_text"
require_relative "../suite/losses"
require_relative "../suite/results"
require_relative "command"
require_relative "installation"
require_relative "loss_rules"
require_relative "output_file"
require_relative "program"
require_relative "size"
require_relative "suite_process"

module Heapline
  module CLI
    # `heapline test -- CMD`: runs a test suite as it is, and says at its end what each test did to memory.
    class Test < Command
      include LossRules

      USAGE_LINE = "test [options] [--] COMMAND [ARGUMENTS]"
      SUMMARY = "Run a test suite unchanged, and say what each test leaves behind, needs and allocates"
      HOOK = File.join(Installation::LIB, "heapline", "suite", "hook.rb")
      FAILURES = %w[growth leaks].freeze

      def call(argv)
        words = parse(argv)
        raise UsageError, "which command runs the tests? heapline test -- bundle exec rake test" if words.empty?

        reader # what is wrong with the rules is said before the tests run
        program = Program.new(words.first, @env["PATH"])
        return refuse(program) if program.problem

        Dir.mktmpdir("heapline-suite") do |directory|
          report(SuiteProcess.run(words, environment(directory)), directory)
        end
      end

      private

      def define(parser)
        parser.on("--fail-on LIST", "growth: run each test that leaves something behind again and again, and fail " \
                                    "(status 1) where one grows; leaks: look for lost blocks, and fail where a test " \
                                    "lost one") { |list| @options[:fail_on] = failures(list) }
        define_loss_rules(parser)
        parser.on("--by GROUP", "test (unless given) or file") { |by| @options[:by] = group(by) }
        parser.on("--sort KEY", "sort by #{Format::SuiteText::KEYS.join(", ")}") { |key| @options[:sort] = sort(key) }
        parser.on("--top N", "tests shown (10; 0: all)") { |number| @options[:top] = Size.count(number) }
        parser.on("-o", "--output FILE", "write what is known of all tests to FILE, as JSON") do |file|
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
        Format::SuiteText::KEYS.find { |key| key.to_s == name } ||
          raise(UsageError, "no such sort key: #{name}; there are #{Format::SuiteText::KEYS.join(", ")}")
      end

      def refuse(program)
        @err.puts "heapline: #{program.problem}"
        program.status
      end

      # What the suite's environment has beyond this one's. RUBYOPT parts its words by spaces.
      def environment(directory)
        raise Error, "RUBYOPT cannot name #{HOOK}: there is a space in it; install heapline elsewhere" if HOOK =~ /\s/

        settings = FAILURES.to_h { |what| [what, fail_on?(what)] }
        File.write(File.join(directory, Suite::Results::SETTINGS), JSON.generate(settings), perm: 0o600)
        { "RUBYOPT" => ["-r#{HOOK.delete_suffix(".rb")}", @env["RUBYOPT"]].compact.join(" "),
          "HEAPLINE_SUITE" => [directory, *Installation.libraries].join("\x1f") }
      end

      def fail_on?(what)
        @options.fetch(:fail_on, []).include?(what)
      end

      # The exit status: the suite's own; where that is good, whether what was asked for holds.
      def report(status, directory)
        tests = Suite::Results.read(directory)
        tests = Suite::Losses.new(reader).told(tests, directory) if fail_on?("leaks")
        write(tests) if @options[:output]
        options = { **@options.slice(:top, :sort, :by), **losses(tests, directory) }
        Format::SuiteText.new(**options, directory: Dir.pwd, env: @env).render(tests, @err)
        status.zero? && tests.any? { |test| test.grows || test.lost_blocks.positive? } ? PROBLEM : status
      end

      def losses(tests, directory)
        fail_on?("leaks") ? { lost: true, unsearched: Suite::Losses.unsearched(tests, directory) } : {}
      end

      def write(tests)
        require_relative "../format/suite_json"
        OutputFile.write(@options[:output]) { |io| Format::SuiteJson.new.render(tests, io) }
      end
    end
  end
end
