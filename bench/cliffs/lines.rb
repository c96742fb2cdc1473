# frozen_string_literal: true

require_relative "many_lines"

# All lines are run once.
LINES = Integer(ARGV.first)

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

files = ManyLines.each_file(LINES).to_a
GC.disable
begun = now
files.each { |file| file.call("s") }
puts format("%.6f", (now - begun) * 1e6 / LINES)
