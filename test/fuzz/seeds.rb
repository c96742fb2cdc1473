# frozen_string_literal: true

# Writes the seeds of the flight reader's fuzz target into the directory given: `ruby test/fuzz/seeds.rb DIRECTORY`.
require_relative "../support/flight_builder"

# A file with sites in several lanes, a baseline and names of all kinds.
def sample(sites)
  builder = FlightBuilder.new(baseline: 2, baseline_kind: 2)
  numbers = (1..sites).map { |line| builder.ruby_site("a.rb", line, label: "A#a", library: "l.so", tag: "t") }
  numbers << builder.native_site("m.so", 16, symbol: "m")
  numbers.each { |site| builder.count(site % 2, site, allocations: 9, bytes_allocated: 90, frees: 1, bytes_freed: 10) }
  builder.lane(1, baseline: 2, owner: 7)
  builder.base(1, numbers.first, allocations: 1, bytes_allocated: 10)
  builder.old(1, numbers.first, frees: 1, bytes_freed: 10)
  builder.to_s
end

directory = ARGV.fetch(0) { abort "usage: ruby test/fuzz/seeds.rb DIRECTORY" }
[1, 2].each do |sites|
  bytes = sample(sites)
  File.binwrite(File.join(directory, "one-copy-#{sites}"), "\x01\x00".b + bytes)
  File.binwrite(File.join(directory, "two-copies-#{sites}"), "\x01\x01".b + bytes + bytes)
end
