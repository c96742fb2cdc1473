# frozen_string_literal: true

require "json"

module Bench
  # One run of the suite on one Ruby, as it is kept in a file: what was measured on what, before any judgement.
  # `load` is the machine's at the start. `scale` is "quick" where the workloads were too small to judge by, else
  # "full". `tools` maps names to versions, `absent` names to reasons, `series` workload names to Hash of tool name to
  # Array of Result.
  Measurement = Struct.new(:date, :machine, :load, :interpreter, :description, :scale, :runs, :tools, :absent, :series,
                           keyword_init: true) do
    def self.load(path)
      fields = JSON.parse(File.read(path), symbolize_names: true)
      series = fields.fetch(:series).to_h do |workload, tools|
        [workload.to_s, tools.to_h { |tool, results| [tool.to_s, results.map { |result| result_from(result) }] }]
      end
      new(**fields, tools: fields[:tools].transform_keys(&:to_s), absent: fields[:absent].transform_keys(&:to_s),
                    series: series)
    rescue JSON::ParserError, KeyError, ArgumentError => e
      raise ArgumentError, "#{path} is not a measurement that bench/run.rb --save wrote: #{e.message}"
    end

    def self.result_from(fields)
      Result.new(**fields, figures: fields.fetch(:figures).transform_keys(&:to_s))
    end
    private_class_method :result_from

    def save(path)
      plain = series.transform_values { |tools| tools.transform_values { |results| results.map(&:to_h) } }
      File.write(path, "#{JSON.pretty_generate(to_h.merge(series: plain))}\n")
    end

    def quick?
      scale == "quick"
    end

    # Others were at work on the machine: wall times are theirs as much as the program's.
    def disturbed?
      load > 1
    end

    def comparisons
      Workload.named(series.keys).map { |workload| Comparison.new(workload, series.fetch(workload.name)) }
    end
  end
end
