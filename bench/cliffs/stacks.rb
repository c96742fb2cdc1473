# frozen_string_literal: true

require "heapline"
require "tmpdir"

# Strings that are made under so many frames, and freed there; under heapline they are recorded.
FRAMES = Integer(ARGV.first)
STRINGS = 200_000

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
def under(frames) = frames.zero? ? STRINGS.times { ("x" * 500).clear } : under(frames - 1)

def cost
  begun = now
  under(FRAMES)
  (now - begun) * 1e6 / STRINGS
end

GC.disable
us = nil
Dir.mktmpdir do |folder|
  Heapline.enabled? ? Heapline.record(File.join(folder, "run.hlc")) { us = cost } : us = cost
end
puts format("%.6f", us)
