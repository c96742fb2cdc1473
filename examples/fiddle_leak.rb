# frozen_string_literal: true

# A leak that only counting finds: 100,000 native blocks of 1 KiB from one line, half of them never freed.
#
#   heapline --mwrap ruby examples/fiddle_leak.rb
#
# The line of Fiddle.malloc shows 100,000 allocations of 1,024 bytes and 50,000 frees, so 51,200,000 bytes growth; and
# on top of these what the VM itself allocated at that line, a few small blocks, the same in every run. The report of
# heapline at the end begins with this line. The script is written for mwrap and runs under it too; there, growth can
# only be estimated from the mean size of a block.
require "fiddle"
require "mwrap"

BLOCKS = 100_000
BYTES = 1024

pointers = Array.new(BLOCKS)
# Up to Ruby 3.2 a collection moves short arrays that are still alive into blocks of their own, where it happens to
# begin: now, not at the line below.
GC.start
LINE = __LINE__ + 1
BLOCKS.times { |index| pointers[index] = Fiddle.malloc(BYTES) }
pointers.first(BLOCKS / 2).each { |pointer| Fiddle.free(pointer) }

found = false
Mwrap.each do |location, total, allocations, frees, age_total, max_lifespan|
  next unless location == "#{__FILE__}:#{LINE}"

  found = true
  puts "#{location}: #{total} bytes in #{allocations} allocations, #{frees} frees"
  puts "mean lifespan #{(age_total / frees.to_f).round(1)} generations, longest #{max_lifespan}"
end
abort "nothing was counted: run it with `heapline --mwrap ruby #{__FILE__}`" unless found
