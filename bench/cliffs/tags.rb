# frozen_string_literal: true

require "heapline"

# A tag each, under which one line allocates one block.
TAGS = Integer(ARGV.first)

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

names = Array.new(TAGS) { |number| "tenant #{number}" }
Heapline.tag("first") { "t" * 100 }
GC.disable
begun = now
names.each { |name| Heapline.tag(name) { "t" * 100 } }
puts format("%.6f", (now - begun) * 1e6 / TAGS)
