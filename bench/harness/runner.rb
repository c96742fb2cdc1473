# frozen_string_literal: true

require "timeout"

module Bench
  # What one process took. Seconds; kB; nil where the workload cannot say (`ruby -e 1`). `figures` are further numbers
  # by name: ns_per_pair, requests_per_second, p99_ms.
  Result = Struct.new(:wall, :cpu, :rss_kb, :gc_count, :digest, :figures, keyword_init: true)

  # Runs one workload once, as a process of its own.
  class Runner
    # A run that failed, hung, or whose workload found its own output wrong. It names the log.
    class Broken < StandardError
    end

    LIMIT = 600 # seconds, by far more than any workload needs under the slowest tool

    def initialize(interpreter, equipment, scratch:, size: "full", limit: LIMIT)
      @interpreter = interpreter
      @environment = equipment.environment.merge("BENCH_SIZE" => size, "BENCH_RESULT" => File.join(scratch, "result"))
      @scratch = scratch
      @limit = limit
    end

    def run(workload, tool)
      empty_scratch
      environment, argv = tool.wrap(@interpreter.command(*workload.arguments), workload.through)
      environment = @environment.merge(workload.start? ? {} : Environment::GROWN_HEAP, environment)
      wall, cpu, status = timed { await(spawn_logged(environment, argv)) }
      raise Broken, failure(workload, tool, status) unless status.success?

      result(workload, wall, cpu)
    end

    private

    def spawn_logged(environment, argv)
      Process.spawn(environment, *argv, out: log, err: %i[child out], pgroup: true)
    end

    # The CPU time of awaited children is what wait4 adds up: all that the process and its own children used.
    def timed
      before = children_cpu
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      status = yield
      [Process.clock_gettime(Process::CLOCK_MONOTONIC) - start, children_cpu - before, status]
    end

    def children_cpu
      times = Process.times
      times.cutime + times.cstime
    end

    def await(pid)
      Timeout.timeout(@limit) { Process.wait2(pid).last }
    rescue Timeout::Error
      Process.kill(:KILL, -pid)
      Process.wait2(pid).last
    end

    # A workload may have measured its own part more exactly than the whole process shows: wall_seconds, cpu_seconds.
    def result(workload, wall, cpu)
      written = workload.start? ? {} : read_result(workload)
      figures = written.except("digest").transform_values(&:to_f)
      Result.new(wall: figures.delete("wall_seconds") || wall, cpu: figures.delete("cpu_seconds") || cpu,
                 rss_kb: figures.delete("peak_rss_kb"), gc_count: figures.delete("gc_count"),
                 digest: written["digest"], figures: figures)
    end

    def read_result(workload)
      File.readlines(File.join(@scratch, "result"), chomp: true).to_h { |line| line.split(" ", 2) }
    rescue Errno::ENOENT
      raise Broken, "#{workload.name} ended well but wrote no result"
    end

    def failure(workload, tool, status)
      "#{workload.name} failed under #{tool.name} on Ruby #{@interpreter.name} (#{status}):\n" \
        "#{File.readlines(log).last(20).join}"
    end

    def log
      File.join(@scratch, "log")
    end

    def empty_scratch
      Dir.children(@scratch).each { |name| File.delete(File.join(@scratch, name)) }
    end
  end
end
