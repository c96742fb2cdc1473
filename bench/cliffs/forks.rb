# frozen_string_literal: true

# Forks of a process with so many lines, each of which 65 threads ran in part. How a child ends is the second argument:
# live: it runs a few lines; exec: its Ruby executes another program; spawn: Ruby's spawn. Processor time of both sides.
LINES = Integer(ARGV.first)
HOW = ARGV.fetch(1)
THREADS = 64
FORKS = 30
OTHER = [{ "LD_PRELOAD" => nil }, "/bin/true"].freeze

def now = Process.times.sum

def child
  case HOW
  when "live" then fork { exit!(Array.new(10) { "c" * 100 }.size == 10) }
  when "exec" then fork { exec(*OTHER) }
  when "spawn" then spawn(*OTHER)
  end
end

code = "->(a) {\n#{"  a * 100\n" * 128}}"
files = Array.new((LINES / 128.0).ceil) do |number|
  RubyVM::InstructionSequence.compile(code, "/app/models/#{number}.rb").eval
end
files.each { |file| file.call("s") }
ran = Queue.new
THREADS.times do |thread|
  Thread.new do
    files.each_with_index { |file, number| file.call("s") if number % 8 == thread % 8 }
    ran << thread
    sleep
  end
end
THREADS.times { ran.pop }
GC.start
GC.disable
Process.wait(child)
begun = now
FORKS.times { Process.wait(child) }
puts format("%.6f", (now - begun) * 1e6 / FORKS)
$stdout.flush
exit!(true) # the sleepers need not be woken
