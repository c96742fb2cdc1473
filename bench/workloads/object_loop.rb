# frozen_string_literal: true

require_relative "support"

# Nothing but objects that are garbage at once: what a hook on each birth and end costs at most.
Workload.run(full: 2_000_000, quick: 10_000) do |count|
  made = 0
  made += 1 while made < count && Object.new
  Workload.check(made == count, "#{made} objects of #{count}")
  made
end
