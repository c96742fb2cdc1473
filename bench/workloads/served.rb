# frozen_string_literal: true

# Puma serves an application with as many threads on the loopback interface as there are kept connections; the load
# comes from a process without any tool. Programs that serve require Puma before; who only asks needs none.
module Served
  Load = Struct.new(:requests, :seconds, :p99_ms, :failed)
  UNTOLD = %w[LD_PRELOAD RUBYOPT RUBYLIB].to_h { |name| [name, nil] }.freeze

  module_function

  # Reports what the requests took; with BENCH_TURNS another process asks (bench/serving.rb).
  def measure(app, threads:, requests:)
    return stay(app, threads) if ENV.key?("BENCH_TURNS")

    serve(app, threads) do |port|
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
  def stay(app, threads)
    $stdout.sync = true
    serve(app, threads) do |port|
      puts port
      puts Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) while $stdin.gets
    end
  end

  def serve(app, threads)
    server = Puma::Server.new(app, nil, min_threads: threads, max_threads: threads, log_writer: Puma::LogWriter.null)
    port = server.add_tcp_listener("127.0.0.1", 0).addr[1]
    server.run
    yield port
  ensure
    server.stop(true)
  end

  # A Load; raises Workload::Wrong unless all were answered.
  def load(port, requests, connections)
    client = [RbConfig.ruby, "--disable-gems", File.join(__dir__, "web_client.rb")]
    seconds, p99_ms, failed = IO.popen([UNTOLD, *client, *[port, requests, connections].map(&:to_s)], &:read).split
    Workload.check(failed == "0", "#{failed || "all"} of #{requests} requests were not answered with a 200")
    Load.new(requests, Float(seconds), Float(p99_ms), Integer(failed))
  end
end
