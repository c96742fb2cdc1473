# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "support"

module Bench
  class RunnerTest < Minitest::Test
    PLAIN = Tool.new(name: "plain", preload: [{}, []], command: [{}, []])
    SUPPORT = File.join(Workload::DIRECTORY, "support")

    def test_a_run_has_times_memory_collections_and_its_own_figures
      result = run_script(<<~RUBY)
        Workload.run(full: 1, quick: 2) { |size| Workload.report("size", size); GC.start; "done" }
      RUBY

      assert_operator result.wall, :>, 0
      assert_operator result.cpu, :>, 0
      assert_operator result.rss_kb, :>, 1_000
      assert_operator result.gc_count, :>=, 1
      assert_equal({ "size" => 2.0 }, result.figures)
      assert_equal "4-422", result.digest
    end

    def test_a_workload_may_time_its_own_part
      result = run_script('Workload.run(full: 1, quick: 1) { Workload.report("wall_seconds", 123.5) }')

      assert_in_delta 123.5, result.wall
      assert_empty result.figures
    end

    def test_a_workload_that_finds_its_output_wrong_breaks_the_run
      error = assert_raises(Runner::Broken) do
        run_script('Workload.run(full: 1, quick: 1) { Workload.check(false, "two plus two is five") }')
      end

      assert_match(/broken failed under plain/, error.message)
      assert_includes error.message, "two plus two is five"
    end

    def test_a_killed_run_is_broken
      error = assert_raises(Runner::Broken) { run_script("Process.kill(:KILL, Process.pid); sleep") }

      assert_includes error.message, "SIGKILL"
    end

    def test_a_run_that_hangs_is_ended
      error = assert_raises(Runner::Broken) { run_script("sleep", limit: 0.2) }

      assert_includes error.message, "SIGKILL"
    end

    def test_a_run_without_a_result_is_broken_even_after_one_that_had_one
      Dir.mktmpdir do |scratch|
        run_script('Workload.run(full: 1, quick: 1) { "" }', scratch)
        error = assert_raises(Runner::Broken) { run_script("exit", scratch) }

        assert_includes error.message, "wrote no result"
      end
    end

    private

    def run_script(script, scratch = nil, **limit)
      return Dir.mktmpdir { |directory| run_script(script, directory, **limit) } unless scratch

      workload = Workload.new(name: "broken", group: :ruby, arguments: ["-r", SUPPORT, "-e", script], through: :preload)
      equipment = Struct.new(:environment).new(Environment.clean)
      runner = Runner.new(Interpreter.new(RbConfig.ruby), equipment, scratch: scratch, size: "quick", **limit)
      runner.run(workload, PLAIN)
    end
  end
end
