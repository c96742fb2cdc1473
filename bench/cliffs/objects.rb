# frozen_string_literal: true

require "stringio"
require "heapline"
require "heapline/cli"

# A report on all objects, which are of so many classes. Without heapline there is none.
CLASSES = Integer(ARGV.first)

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

kept = Array.new(CLASSES) { |number| Object.const_set("Made#{number}", Class.new).new }
out = StringIO.new
begun = now
if Heapline.enabled?
  status = Heapline::CLI.start(["report", "--objects", "--top", "0", "--json", Process.pid.to_s], out: out)
  abort "no report" unless status.zero? && out.string.scan(/"Made\d+"/).size >= kept.size
end
puts format("%.6f", (now - begun) * 1e6 / CLASSES)
