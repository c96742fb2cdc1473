# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "json"
require "erb"
require "rack"
require "puma"
require "puma/server"

# A Rack application that answers with a rendered page and some JSON in it.
class Shop
  ERB.new(<<~HTML).def_method(self, "page(rows, json)")
    <html><body><h1>All articles</h1><table>
    <% rows.each do |row| %><tr><td><%= row[:name] %></td><td><%= format("%.2f", row[:price]) %></td></tr>
    <% end %></table><script type="application/json"><%= json %></script></body></html>
  HTML

  def call(env)
    shop = Rack::Request.new(env).params["shop"]
    rows = Array.new(30) { |i| { name: "article #{i} of shop #{shop}", price: i * 1.19 } }
    body = page(rows, JSON.generate(rows))
    [200, { "content-type" => "text/html", "content-length" => body.bytesize.to_s }, [body]]
  end
end

# Puma serves it with four threads on the loopback interface; the load comes from a process without any tool.
module WebServer
  Load = Struct.new(:requests, :seconds, :p99_ms, :failed)
  UNTOLD = %w[LD_PRELOAD RUBYOPT RUBYLIB].to_h { |name| [name, nil] }.freeze

  def self.serve(app)
    server = Puma::Server.new(app, nil, min_threads: 4, max_threads: 4, log_writer: Puma::LogWriter.null)
    port = server.add_tcp_listener("127.0.0.1", 0).addr[1]
    server.run
    yield port
  ensure
    server.stop(true)
  end

  def self.load(port, requests)
    client = [RbConfig.ruby, "--disable-gems", File.join(__dir__, "web_client.rb"), port.to_s, requests.to_s]
    seconds, p99_ms, failed = IO.popen([UNTOLD, *client], &:read).split
    Workload.check(failed == "0", "#{failed || "all"} of #{requests} requests were not answered with a 200")
    Load.new(requests, Float(seconds), Float(p99_ms), Integer(failed))
  end
end

Workload.run(full: 20_000, quick: 40) do |requests|
  WebServer.serve(Shop.new) do |port|
    before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    load = WebServer.load(port, requests)
    cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before
    Workload.report("wall_seconds", load.seconds)
    Workload.report("cpu_seconds", cpu)
    Workload.report("requests_per_second", load.requests / load.seconds)
    Workload.report("p99_ms", load.p99_ms)
  end
  requests
end
