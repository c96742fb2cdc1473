# frozen_string_literal: true

require_relative "support"
require_relative "native/pairs"

# Blocks of 64 bytes, from C, that all live at the end: what a tool keeps for each of them.
Workload.run(full: 2_000_000, quick: 2_000) do |count|
  Workload.report("live_blocks", NativePairs.keep(count))
  count
end
