# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require_relative "support"

module Bench
  # The suite itself, in its validating mode: every workload once and small, under every tool that is here.
  class RunTest < Minitest::Test
    RUN = File.expand_path("../../bench/run.rb", __dir__)

    def test_every_workload_runs_under_every_tool
      Dir.mktmpdir do |directory|
        page, saved = %w[page.md saved.json].map { |name| File.join(directory, name) }
        out, status = bench("--quick", "--no-yjit", "--output", page, "--save", saved)

        assert status.success?, out
        measurement = Measurement.load(saved)
        assert_complete measurement
        quick.each { |workload| assert_includes File.read(page), "| #{workload.title} |" }
        written = File.read(page)
        assert bench("--no-measure", "--merge", saved, "--output", page).last.success?
        assert_equal written, File.read(page)
      end
    end

    def test_a_mistake_on_the_command_line_is_one_line
      out, status = bench("--only", "nonsense")

      refute status.success?
      assert_match(/\Abench: no workload nonsense; there are pairs_1, .*\n\z/, out)
    end

    private

    def bench(*arguments)
      Open3.capture2e(Environment.clean, RbConfig.ruby, RUN, *arguments)
    end

    def quick
      Workload::ALL.reject(&:rails?)
    end

    def expected(workload, tools)
      return tools & (Tool::ALWAYS + Tool::OBJECTS) if workload.objects?
      return tools & Tool::KNOWN if workload.known?

      tools - Tool::OBJECTS - (workload.start? ? %w[least watched blocks record] : [])
    end

    def assert_complete(measurement)
      assert_equal quick.map(&:name), measurement.series.keys
      assert_includes measurement.tools.keys, "heapline", "heapline was not measured: #{measurement.absent["heapline"]}"
      quick.each do |workload|
        tools = measurement.series[workload.name]
        assert_equal expected(workload, measurement.tools.keys), tools.keys, workload.name
        assert(tools.values.all? { |results| results.size == 1 }, workload.name)
      end
    end
  end
end
