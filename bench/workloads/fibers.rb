# frozen_string_literal: true

require_relative "support"

# Fibers that take turns, with one string at each: as under a server that has a fiber for each request.
Workload.run(full: 2_000_000, quick: 2000) do |count|
  fibers = Array.new(1000) { |i| Fiber.new { loop { Fiber.yield(("x" * (1000 + i)).bytesize) } } }
  bytes = (count / fibers.size).times.sum { fibers.sum(&:resume) }
  Workload.check(bytes == count / 1000 * 1000.times.sum { |i| 1000 + i }, "#{bytes} bytes in #{count} strings")
  bytes
end
