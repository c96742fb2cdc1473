# frozen_string_literal: true

require "stringio"
require "heapline"
require "heapline/leaks/json"
require_relative "many_lines"

# Lines that hold a block each: a search for lost blocks finds as many records, which are read and written as JSON. The
# search itself, in a copy of the process, is not among the costs. Without heapline there is none.
LINES = Integer(ARGV.first)

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def search(since)
  found = Heapline.leaks(since: since, reachable: true, all: true)
  Heapline::Leaks::Json.new(kinds: Heapline::Leaks::Findings::KINDS).render(found, StringIO.new)
  found.count
end

GC.start
since = Heapline.enabled? ? Heapline::Native.generation : 0
kept = []
ManyLines.each_file(LINES, arguments: "kept, a", line: "kept << a * 100") { |file| file.call(kept, "s") }
begun = now
abort "too few records" if Heapline.enabled? && search(since) < LINES
puts format("%.6f", (now - begun) * 1e6 / LINES)
