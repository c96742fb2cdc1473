# frozen_string_literal: true

require "open3"
require "tmpdir"

module Bench
  # Instructions that whole programs take under the tools, counted by Valgrind: the same on a busy machine, to some
  # tenths of a per cent, which a random seed of hashes makes. What memory takes is not in them.
  class CountedPrograms
    Broken = Class.new(StandardError)

    LINE = "| %<title>s | %<plain>s | %<ratios>s |"

    # tools: Array of Tool, the first of which the others are compared to
    def initialize(interpreter, equipment, tools, scratch:)
      @interpreter = interpreter
      @environment = equipment.environment.merge(Environment::GROWN_HEAP)
      @tools = tools
      @scratch = scratch
    end

    # A line for each workload as soon as it is counted, and the geometric means.
    def table(io, workloads)
      names = @tools.drop(1).map(&:name)
      io.puts line("program", "plain, millions", names), "|---|#{"---:|" * @tools.size}"
      ratios = workloads.map { |workload| row(io, workload) }
      means = ratios.transpose.map { |column| format("%.3f", Statistics.geometric_mean(column)) }
      io.puts line("**geometric mean**", "", means)
    end

    private

    # The tools side by side: their number does not change what is counted.
    def row(io, workload)
      plain, *others = @tools.map { |tool| beside { count(workload, tool) } }.map(&:value)
      ratios = others.map { |instructions| instructions.fdiv(plain) }
      io.puts line(workload.title, (plain / 1e6).round, ratios.map { |ratio| format("%.3f", ratio) })
      ratios
    end

    def beside
      Thread.new do
        Thread.current.report_on_exception = false # who asks for the value gets it
        yield
      end
    end

    def line(title, plain, ratios)
      format(LINE, title: title, plain: plain, ratios: ratios.join(" | "))
    end

    def count(workload, tool)
      environment, argv = tool.wrap(@interpreter.command(*workload.arguments), :preload)
      own = { "BENCH_RESULT" => File.join(@scratch, "result-#{tool.name}") }
      output, status = Open3.capture2e(@environment.merge(own, environment), "valgrind", "--tool=callgrind",
                                       "--callgrind-out-file=/dev/null", *argv)
      counted = output[/Collected : (\d+)/, 1]
      return Integer(counted) if counted && status.success?

      raise Broken, "#{workload.name} failed under #{tool.name}:\n#{output.lines.last(20).join}"
    rescue Errno::ENOENT
      raise Broken, "valgrind is not there"
    end
  end
end
