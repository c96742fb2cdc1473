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
        assert_empty words - CLI::COMMANDS.keys - ["-o", "--gc"]
      end

      def commands(snapshot, ledger = nil)
        NextSteps.for_report(snapshot.with(state: :running), "4711", {}, ledger: ledger)
      end

      def test_figures_say_what_is_next
        growing = commands(leaky.with(baseline: 1, baseline_kind: :clear)).map(&:first)
        assert_equal ["heapline log -o 4711.jsonl 4711", "heapline growth 4711.jsonl"], growing.last(2)
        assert_equal "heapline baseline 4711", commands(leaky).last.first
        native = leaky.with(sites: [site("/app/a.rb", 1, live_bytes: 90, library: "oj.so")])
        assert_equal ["heapline leaks 4711", "has oj.so lost any of its blocks? (with --blocks)"], commands(native).last
        assert_equal "heapline leaks ruby leak.rb", NextSteps.for_exit(native, {}).last.first
      end

      def test_a_process_that_is_no_longer_counted_can_be_counted_again
        native = leaky.with(sites: [site("/app/a.rb", 1, live_bytes: 90, library: "oj.so")], stopped_at: Time.now)
        assert_equal ["heapline attach 4711", "count it again"], commands(native).last
      end

      def test_what_is_held_is_told_from_a_part_of_rss_on
        whys = [10, 90].map do |held|
          ledger = Struct.new(:rss_bytes, :lines).new(100, { malloc_held: Struct.new(:bytes).new(held) })
          def ledger.[](key) = lines[key]
          commands(leaky, ledger).to_h["heapline rss 4711"]
        end
        assert_equal ["what else is in RSS?", "90 B are freed and still held: where, and why?"], whys
      end

      def test_hostile_file_names_can_be_typed
        assert_equal "heapline report a\\ b\\;c --by gem", NextSteps.for_report(leaky, "a b;c", {})[0][0]
      end

      def test_the_command_can_be_run_again
        assert_equal ["heapline -o run.heapline ruby a\\ b.rb", "heapline --gc ruby a\\ b.rb"],
                     NextSteps.for_exit(leaky.with(command: ["ruby", "a b.rb"]), {}).values_at(0, 2).map(&:first)
        assert_equal 2, NextSteps.for_exit(leaky, { gc: true }).size
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
