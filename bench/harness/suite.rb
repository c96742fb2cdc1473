# frozen_string_literal: true

require "tmpdir"

module Bench
  # Runs the workloads on one Ruby: workload → runner → results → measurement.
  class Suite
    # progress: an IO for one line a workload
    def initialize(interpreter, options, progress)
      @interpreter = interpreter
      @options = options
      @progress = progress
    end

    def measure
      equipment = Equipment.new(@interpreter, servers: workloads.any?(&:rails?)).prepare
      Dir.mktmpdir("heapline-bench") do |scratch|
        tools, absent = Tools.new(@interpreter, equipment, scratch: scratch).find(names)
        say_tools(tools, absent)
        measurement(tools, absent, run(series(equipment, scratch, tools)))
      end
    end

    private

    # With YJIT the question is what heapline costs; the other tools' answer would be that of the run without.
    def names
      @interpreter.flags.empty? ? @options.tools : @options.tools & Tool::KNOWN
    end

    def series(equipment, scratch, tools)
      runner = Runner.new(@interpreter, equipment, scratch: scratch, size: scale)
      Series.new(runner, tools, runs: runs, warm_up: !@options.quick)
    end

    def run(series)
      workloads.to_h do |workload|
        results = series.measure(workload)
        say_workload(workload, results)
        [workload.name, results]
      end
    end

    def workloads
      all = Workload.named(@options.only)
      @options.quick && @options.only.empty? ? all.reject(&:rails?) : all
    end

    def scale
      @options.quick ? "quick" : "full"
    end

    def runs
      @options.quick ? 1 : @options.runs
    end

    def measurement(tools, absent, series)
      Measurement.new(date: Time.now.utc.strftime("%Y-%m-%d"), machine: Machine.description, load: Machine::LOAD,
                      interpreter: @interpreter.name, description: @interpreter.description,
                      scale: scale, runs: runs,
                      tools: tools.to_h { |tool| [tool.name, tool.version] }, absent: absent, series: series)
    end

    def say_tools(tools, absent)
      names = tools.map { |tool| "#{tool.name} #{tool.version}".strip }
      @progress.puts "#{@interpreter.description}: #{names.join(", ")}"
      absent.each { |name, reason| @progress.puts "  without #{name}: #{reason}" }
    end

    def say_workload(workload, results)
      comparison = Comparison.new(workload, results)
      others = results.keys - ["plain"]
      told = others.map { |tool| "#{tool} #{Cells.of(comparison, tool).join(" ")}" }
      @progress.puts "  #{workload.name}: #{[Cells.plain(comparison), *told].join(" · ")}"
    end
  end
end
