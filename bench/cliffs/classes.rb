# frozen_string_literal: true

# Objects of so many classes in turn.
CLASSES = Integer(ARGV.first)
OBJECTS = 1 << 20

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

classes = Array.new(CLASSES) { Class.new }
begun = now
(OBJECTS / CLASSES).times { classes.each(&:new) }
puts format("%.6f", (now - begun) * 1e6 / OBJECTS)
