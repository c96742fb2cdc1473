# frozen_string_literal: true

require_relative "../../bench/harness"

module Bench
  # Makes results by hand.
  module Results
    PLAIN = { wall: 1.0, cpu: 1.0, rss_kb: 100_000.0, gc_count: 1_000.0, digest: "1-1", figures: {} }.freeze

    # results: tool name to Array of Hashes with the members that matter
    def comparison(name, **results)
      Comparison.new(Workload.named([name]).first, series(**results))
    end

    def series(**results)
      results.to_h { |tool, runs| [tool.to_s, runs.map { |fields| Result.new(**PLAIN, **fields) }] }
    end

    def measurement(series)
      Measurement.new(date: "2026-01-01", machine: "a machine", load: 0.1, interpreter: "3.4.1",
                      description: "ruby 3.4.1",
                      scale: "full", runs: 1, tools: { "plain" => "", "heapline" => "0.1" },
                      absent: { "mwrap" => "does not load" }, series: series)
    end
  end
end
