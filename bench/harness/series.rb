# frozen_string_literal: true

module Bench
  # All runs of one workload: under every tool in turn, and again, so that what happens on the machine meanwhile meets
  # all of them alike and each run has its partner in the same round.
  class Series
    # Outputs that differ between tools: one of the runs was not the same work.
    class Unequal < StandardError
    end

    def initialize(runner, tools, runs:, warm_up: true)
      @runner = runner
      @tools = tools
      @runs = runs
      @warm_up = warm_up
    end

    # Hash of tool name to Array of Result, in the order of the rounds
    def measure(workload)
      @runner.run(workload, @tools.first) if @warm_up
      rounds = Array.new(@runs * (@warm_up ? workload.repeat : 1)) { round(workload) }
      results = tools(workload).to_h { |tool| [tool.name, rounds.map { |round| round.fetch(tool.name) }] }
      compare_outputs(workload, results)
      results
    end

    private

    def tools(workload)
      @tools.select { |tool| tool.measures?(workload) }
    end

    def round(workload)
      tools(workload).to_h { |tool| [tool.name, @runner.run(workload, tool)] }
    end

    def compare_outputs(workload, results)
      digests = results.transform_values { |runs| runs.map(&:digest).uniq }
      return if digests.values.flatten.uniq.size <= 1

      raise Unequal, "#{workload.name} did not compute the same everywhere: #{digests}"
    end
  end
end
