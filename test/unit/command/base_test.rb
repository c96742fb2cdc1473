# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/command/base"
require "heapline/accounting/flight"

module Heapline
  module Command
    class BaseTest < Minitest::Test
      include CliHelper

      def test_every_command_has_a_summary_and_a_usage
        CLI::COMMANDS.each_key do |name|
          help = heapline("help", name)
          assert_equal 0, help.status
          assert_match(/\Ausage: heapline .*\n\n\w.*\.\n/, help.out, name)
        end
      end

      def test_wrong_options_are_status_2_and_name_the_help
        result = heapline("ps", "--nonsense")
        assert_equal [2, "heapline: invalid option: --nonsense (heapline help ps)\n"], [result.status, result.err]
      end

      def test_what_was_meant
        { %w[report --formt csv] => /invalid option: --formt(; is it --format\?)? \(heapline help report\)/,
          %w[report --sort grwth] => /--sort takes \w+(, \w+)+, not grwth \(heapline help report\)/,
          %w[report --format=cvs] => /--format takes text, json, csv, .*, not cvs \(heapline help report\)/,
          %w[report --form cvs] => /.*cvs.*/ }.each do |words, pattern|
          result = heapline(*words)
          assert_equal 2, result.status, words
          assert_match(/\Aheapline: #{pattern}\n\z/, result.err)
        end
      end

      # A process has no options of its own: those behind its PID are the command's, as before it.
      def test_options_behind_a_pid
        own_flight
        about_pids = CLI::COMMANDS.keys.select { |name| CLI.command(name)::USAGE_LINE.match?(/\bPID\b/) }
        assert_operator about_pids.size, :>, 10
        about_pids.each do |name|
          result = heapline(*name.split, Process.pid.to_s, "--nonsense")
          assert_equal [2, "heapline: invalid option: --nonsense (heapline help #{name})\n"],
                       [result.status, result.err], name
        end
      end

      VALUES = ["1", "5s", "all", "-", "--json", ""].freeze

      # Whether a command line needs OptionParser or not, it means the same.
      def test_options_in_full_are_what_optionparser_makes_of_them
        types = CLI::COMMANDS.keys.map { |name| CLI.command(name) }
        seen = types.sum do |type|
          words = type.new.parser.top.list.grep(OptionParser::Switch).flat_map { |switch| switch.long + switch.short }
          lines = words.product(VALUES).flat_map do |word, value|
            [[word], [word, value], ["x", word, value, "y"], [word, value, "--", word], [word, value, "--nonsense"]]
          end
          lines.each { |argv| assert_equal parsed(type, :parse_further, argv), parsed(type, :parse, argv), argv }.size
        end
        assert_operator seen, :>, 3000
      end

      # [arguments, options], or what is said.
      def parsed(type, how, argv)
        command = type.new
        [command.send(how, argv), command.instance_variable_get(:@options)]
      rescue Error => e
        e.message
      end

      # In the section of its command, where it has one; `env` has the options of `run`.
      def test_every_option_is_documented
        page = File.read(File.join(ROOT, "docs", "cli.md"))
        sections = page.split(/^(?=## )/)
        missing = (CLI::COMMANDS.keys - %w[env]).flat_map do |name|
          section = sections.find { |text| text.match?(/\A## .*heapline #{name}\b/) } || page
          options = heapline("help", name).out.partition("\nFor example:\n").first.scan(/(?<=\s)--[a-z][\w-]*/).uniq
          options.reject { |option| section.include?(option) }.map { |option| [name, option] }
        end
        assert_empty missing
      end

      # Raises what it is given, with a status that is known or not.
      class Failing < Base
        def call(argv)
          error, status = argv
          @status = status
          raise error
        end
      end

      # What is raised => what is said, and the status where none is known.
      FAILURES = {
        Errno::ENOSPC.new => [/: the output cannot be written: No space left on device$/, 3],
        Errno::ENOENT.new("getcwd") => [/: the working directory has been deleted$/, 3],
        IOError.new("closed stream") => [/: closed stream$/, 3], Errno::EPIPE.new => [nil, 0],
        Error.new("of ours") => [/: of ours$/, 3], UsageError.new("bad") => [/: bad \(heapline help ps\)$/, 2],
        NoMethodError.new("undefined method `x'") => [/: a mistake in heapline itself, .*: undefined method/, 3],
        LoadError.new("cannot load") => [/: a mistake in heapline itself, .*: cannot load/, 3],
        LoadError.new("no native").tap { |error| error.instance_variable_set(:@path, "/lib/heapline/native") } =>
          [/: the extension is not compiled \(no native\): run `rake compile` in the checkout, or /, 3],
        NoMemoryError.new("no memory") => [/: there is not enough memory for this$/, 3]
      }.freeze

      def fail_with(error, status, err)
        replacing(CLI, :command, ->(_) { Failing }) do
          CLI.start(["ps", error, status], env: environment, out: StringIO.new, err: err)
        end
      end

      def test_what_fails_is_one_line_and_a_status_that_is_known_stays
        FAILURES.each do |error, (words, status)|
          err = StringIO.new
          assert_equal([status, 11, 0], [nil, 11, 0].map { |known| fail_with(error, known, err) }, error.class)
          assert_equal words ? 3 : 0, err.string.lines.size
          err.string.each_line { |line| assert_match(/\Aheapline#{words}/, line) }
        end
      end

      def test_where_nothing_can_be_said
        reader, writer = IO.pipe
        reader.close
        [File.open("/dev/full", "w").tap { |full| full.sync = true }, writer].each do |err|
          assert_equal([3, 11], [nil, 11].map { |known| fail_with(Error.new("of ours"), known, err) })
        end
      end

      # A short answer fails only when it is flushed.
      def test_an_answer_that_cannot_be_written_is_none
        out, err = Array.new(2) { StringIO.new }
        out.define_singleton_method(:flush) { raise Errno::ENOSPC }
        flight
        assert_equal 3, CLI.start(["ps"], env: environment, out: out, err: err)
        assert_equal "heapline: the output cannot be written: No space left on device\n", err.string
      end

      def test_a_broken_pipe_ends_quietly
        reader, writer = IO.pipe
        reader.close
        err = StringIO.new
        flight
        assert_equal 0, CLI.start(["ps"], env: environment, out: writer, err: err)
        assert_empty err.string
        writer.close
      end
    end
  end
end
