# frozen_string_literal: true

require_relative "shop"
require "async/http/endpoint"
require "falcon/server"
require_relative "served"

# Each connection has a fiber, all in one thread.
FALCON = lambda do |app, _, &serving|
  Sync do |task|
    at = Async::HTTP::Endpoint.parse("http://127.0.0.1:0")
    bound = at.bound
    app = Falcon::Server.middleware(app, cache: false)
    running = task.async { Falcon::Server.new(app, bound, protocol: at.protocol, scheme: at.scheme).run }
    serving.call(bound.sockets.first.local_address.ip_port)
    running.stop
  end
end

connections = Integer(ARGV.fetch(0))
Workload.run(full: 20_000, quick: connections * 10) do |requests|
  Served.measure(Shop.new, threads: connections, requests: requests, server: FALCON)
end
