# frozen_string_literal: true

require "test_helper"
require_relative "support"

module Bench
  class SeriesTest < Minitest::Test
    include Results

    # Answers with given digests and remembers what was run.
    class FakeRunner
      attr_reader :calls

      def initialize(digests = {})
        @digests = digests
        @calls = []
      end

      def run(_workload, tool)
        @calls << tool.name
        Result.new(**Results::PLAIN, digest: @digests.fetch(tool.name, "1-1"))
      end
    end

    TOOLS = %w[plain heapline mwrap].map { |name| Tool.new(name: name) }.freeze

    def test_tools_take_turns
      runner = FakeRunner.new
      results = Series.new(runner, TOOLS, runs: 2, warm_up: false).measure(workload)

      assert_equal %w[plain heapline mwrap plain heapline mwrap], runner.calls
      assert_equal({ "plain" => 2, "heapline" => 2, "mwrap" => 2 }, results.transform_values(&:size))
    end

    def test_the_first_run_only_warms_up
      runner = FakeRunner.new
      results = Series.new(runner, TOOLS, runs: 1).measure(workload)

      assert_equal %w[plain plain heapline mwrap], runner.calls
      assert_equal 1, results.fetch("plain").size
    end

    def test_an_output_that_differs_is_noticed
      series = Series.new(FakeRunner.new("mwrap" => "9-9"), TOOLS, runs: 1)
      error = assert_raises(Series::Unequal) { series.measure(workload) }

      assert_includes error.message, "short_strings"
      assert_includes error.message, "9-9"
    end

    private

    def workload
      Workload.named(["short_strings"]).first
    end
  end
end
