# frozen_string_literal: true

require "tempfile"

# An application is served on the loopback interface, by Puma with as many threads as there are kept connections, or by
# another server; the load comes from h2load, without any tool, and always has the same number of requests: so the
# server does the same work. Programs that serve require the server before; who only asks needs none.
module Served
  Load = Struct.new(:requests, :seconds, :p99_ms)
  UNTOLD = %w[LD_PRELOAD RUBYOPT RUBYLIB].to_h { |name| [name, nil] }.freeze

  module_function

  # Reports what the requests took; with BENCH_TURNS another process asks (bench/serving.rb). server: a callable that
  # serves `app` while it yields its port
  def measure(app, threads:, requests:, server: method(:puma))
    return server.call(app, threads) { |port| stay(port) } if ENV.key?("BENCH_TURNS")

    server.call(app, threads) do |port|
      before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      load = load(port, requests, threads)
      cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before
      Workload.report("wall_seconds", load.seconds)
      Workload.report("cpu_seconds", cpu)
      Workload.report("requests_per_second", load.requests / load.seconds)
      Workload.report("p99_ms", load.p99_ms)
    end
    requests
  end

  # Says its port, and at each line that it reads its processor time in seconds.
  def stay(port)
    $stdout.sync = true
    puts port
    puts Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) while $stdin.gets
  end

  def puma(app, threads)
    server = Puma::Server.new(app, nil, min_threads: threads, max_threads: threads, log_writer: Puma::LogWriter.null)
    port = server.add_tcp_listener("127.0.0.1", 0).addr[1]
    server.run
    yield port
  ensure
    server.stop(true)
  end

  # A Load; raises Workload::Wrong unless all were answered.
  def load(port, requests, connections)
    times = []
    span = []
    ask(port, requests, connections) do |start, status, time|
      times << time if status == 200
      span = [*span, start, start + time].minmax
    end
    failed = requests - times.size
    Workload.check(failed.zero?, "#{failed} of #{requests} requests were not answered with a 200")
    Load.new(requests, (span.last - span.first) / 1e6, times.sort[(requests * 0.99).floor] / 1e3)
  end

  # Yields of each answer when it was asked for, its status, and for how long it was waited; in microseconds.
  def ask(port, requests, connections)
    Tempfile.create("requests") do |log|
      command = ["h2load", "--h1", "-n", requests, "-c", connections, "--log-file", log.path,
                 "http://127.0.0.1:#{port}/?shop=7"]
      ran = system(UNTOLD, *command.map(&:to_s), out: File::NULL, err: File::NULL)
      Workload.check(!ran.nil?, "h2load is not there (Debian and Ubuntu have it in nghttp2-client)")
      log.each_line { |line| yield(*line.split("\t").map { |number| Integer(number) }) }
    end
  end
end
