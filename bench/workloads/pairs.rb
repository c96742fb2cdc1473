# frozen_string_literal: true

require_relative "support"
require_relative "native/pairs"

# malloc(64) and free at once, in C, on as many threads as the argument says.
Workload.run(full: 5_000_000, quick: 2_000) do |pairs|
  threads = Integer(ARGV.fetch(0))
  Workload.report("ns_per_pair", NativePairs.ns_per_pair(threads: threads, count: pairs / threads))
  pairs
end
