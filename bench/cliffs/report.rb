# frozen_string_literal: true

require "heapline"
require "heapline/cli"
require "heapline/accounting/format"
require_relative "many_lines"

# A report of so many lines that allocated, of the process itself: as text of the 20 largest, in the format that is
# named of all. Without heapline there is none.
LINES = Integer(ARGV.first)
FORMAT = ARGV.fetch(1, "text")

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

def report
  wanted = Heapline::Format.wanted(FORMAT)
  File.open(File::NULL, "wb") do |out|
    Heapline::Format.made(FORMAT, env: {}).render(Heapline.snapshot(wanted: wanted), out)
  end
end

ManyLines.each_file(LINES) { |file| file.call("s") }
begun = now
report if Heapline.enabled?
puts format("%.6f", (now - begun) * 1e6 / LINES)
