# frozen_string_literal: true

require "stringio"
require "heapline"
require "heapline/cli"
require_relative "many_lines"

# The list of processes, of which this one has so many lines that allocated. Without heapline there is none.
LINES = Integer(ARGV.first)

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

ManyLines.each_file(LINES) { |file| file.call("s") }
begun = now
if Heapline.enabled?
  status = Heapline::CLI.start(["ps", "--json"], out: out = StringIO.new)
  abort "not in the list" unless status.zero? && out.string.include?("\"pid\": #{Process.pid},")
end
puts format("%.6f", (now - begun) * 1e6 / LINES)
