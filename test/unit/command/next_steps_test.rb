# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/cli"
require "support/snapshots"
require "heapline/command/next_steps"
require "heapline/terminal/output"

module Heapline
  module Command
    class NextStepsTest < Minitest::Test
      include Snapshots

      def all
        [[:running, {}], [:killed, {}], [:exited, { by: :gem }]].flat_map do |state, shown|
          NextSteps.for_report(leaky.with(state: state), "4711", shown)
        end + NextSteps.for_capture("run.hlc") + NextSteps.for_capture("run.hlc", objects: true) + after_exits
      end

      def after_exits
        [{}, { keep: true }].flat_map { |how| NextSteps.for_exit(leaky, how) }
      end

      def test_only_commands_that_exist_are_named
        words = all.map { |command, _| command.split[1] }
        assert_empty words - CLI::COMMANDS.keys - ["-o"]
      end

      def test_hostile_file_names_can_be_typed
        assert_equal "heapline report a\\ b\\;c --by gem", NextSteps.for_report(leaky, "a b;c", {})[0][0]
      end

      def test_the_command_can_be_run_again
        assert_equal "heapline -o run.heapline ruby a\\ b.rb",
                     NextSteps.for_exit(leaky.with(command: ["ruby", "a b.rb"]), {})[0][0]
      end

      def lines(steps)
        NextSteps.lines(steps, Terminal::Output.new(StringIO.new, { "LANG" => "C.UTF-8" }))
      end

      def test_lines_are_in_a_column
        assert_equal ["  next  heapline ps             all of them",
                      "        heapline report \\x1B1   this one"],
                     lines([["heapline ps", "all of them"], ["heapline report \e1", "this one"]])
      end

      def test_without_steps_there_are_no_lines
        assert_empty lines([])
      end
    end
  end
end
