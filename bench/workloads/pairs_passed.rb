# frozen_string_literal: true

require_relative "support"
require_relative "native/pairs"

# Blocks that one thread allocates and another one frees, in C.
Workload.run(full: 3_000, quick: 10) do |batches|
  Workload.report("ns_per_pair", NativePairs.ns_per_passed_block(batches: batches))
  batches
end
