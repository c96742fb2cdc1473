# frozen_string_literal: true

require "stringio"
require "heapline/cli"
require "support/flight_builder"

# Runs commands inside the test, with an environment and a flight directory of their own.
module CliHelper
  Result = Struct.new(:status, :out, :err, keyword_init: true)

  include OwnDirectory

  # `heapline WORDS` with HEAPLINE_DIR set to the test's directory; a Result.
  def heapline(*words, env: {})
    out = StringIO.new
    err = StringIO.new
    status = Heapline::CLI.start(words, env: environment.merge(env), out: out, err: err)
    Result.new(status: status, out: out.string, err: err.string)
  end

  def environment
    { "HEAPLINE_DIR" => @directory, "PATH" => ENV.fetch("PATH"), "LANG" => "C.UTF-8" }
  end

  # A flight file of process `pid` in the directory, with one leaking line; its path.
  def flight(pid: 4711, start_ticks: 1, file: nil, **header)
    parent = Heapline::Accounting::ProcessIdentity.of(header[:forked_from] || 0)
    header[:forked_from_ticks] ||= parent.start_ticks if parent
    builder = FlightBuilder.new(pid: pid, start_ticks: start_ticks, **header)
    site = builder.ruby_site("/g/gems/rack-1.0/leak.rb", 12, label: "Leak#leak", tag: "job")
    builder.count(0, site, allocations: 100, bytes_allocated: 51_200, frees: 50, bytes_freed: 25_600, temporary: 20)
    builder.write(file || File.join(@directory, "#{pid}-#{start_ticks}.flight"))
  end

  # The same for the process that runs the test.
  def own_flight(**header)
    ticks = Heapline::Accounting::ProcessIdentity.of(Process.pid).start_ticks
    flight(pid: Process.pid, start_ticks: ticks, state: 1, ended_ns: 0, **header)
  end

  # By what the process that runs the test is known: the first word of its command line, as it is now.
  def own_command
    File.read("/proc/self/cmdline")[/[^\0]+/]
  end
end
