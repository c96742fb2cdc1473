# frozen_string_literal: true

# What each workload file uses to do its work once and hand its figures to the harness, which reads them from the
# file named in BENCH_RESULT. A workload does not know under which tool it runs.
module Workload
  # A workload whose output is wrong ends here: its run then fails, and the harness names it.
  class Wrong < StandardError
  end

  module_function

  # Yields the amount of work (`full`, or `quick` where BENCH_SIZE says so) and writes the result. The block returns
  # what it computed; its digest must be the same under every tool.
  def run(full:, quick:)
    output = yield(ENV["BENCH_SIZE"] == "quick" ? quick : full)
    write("gc_count" => GC.count, "peak_rss_kb" => peak_rss_kb, "digest" => digest(output), **figures)
  end

  # A figure that the workload measured itself; see Result in the harness for the names that are understood.
  def report(name, value)
    figures[name] = value
  end

  # Raises Wrong unless the condition holds.
  def check(condition, problem)
    raise Wrong, problem unless condition
  end

  def figures
    @figures ||= {}
  end

  # The highest resident size so far. Not ru_maxrss: that one survives exec, so that it would start with the size of
  # the harness, and under heaptrack it would be that of heaptrack's own process.
  def peak_rss_kb
    File.read("/proc/self/status")[/^VmHWM:\s*(\d+)/, 1].to_i
  end

  # Enough to tell a wrong output from a right one, without a library that would change what the process loads.
  def digest(output)
    text = output.to_s
    "#{text.bytesize}-#{text.sum(64)}"
  end

  def write(result)
    path = ENV.fetch("BENCH_RESULT")
    File.write(path, result.map { |name, value| "#{name} #{value}\n" }.join)
  end
end
