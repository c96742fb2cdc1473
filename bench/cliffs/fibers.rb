# frozen_string_literal: true

# Fibers that take turns, with one string and its end at each.
FIBERS = Integer(ARGV.first)
SWITCHES = 200_000

def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

fibers = Array.new(FIBERS) { Fiber.new { loop { Fiber.yield(("x" * 500).clear) } } }
fibers.each(&:resume)
GC.disable
rounds = [SWITCHES / FIBERS, 1].max
begun = now
rounds.times { fibers.each(&:resume) }
puts format("%.6f", (now - begun) * 1e6 / rounds / FIBERS)
