# frozen_string_literal: true

# Threads that have allocated and sleep, beside one that comes after them, allocates and frees.
THREADS = Integer(ARGV.first)
PAIRS = 200_000

def now = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

sleeping = Queue.new
THREADS.times do
  Thread.new do
    sleeping << ("t" * 500)
    sleep
  end
end
THREADS.times { sleeping.pop }
GC.disable
us = Thread.new do
  begun = now
  PAIRS.times { ("x" * 500).clear }
  (now - begun) * 1e6 / PAIRS
end
puts format("%.6f", us.value)
$stdout.flush
exit!(true) # the sleepers need not be woken
