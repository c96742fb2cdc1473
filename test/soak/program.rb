# frozen_string_literal: true

# What soak_test.rb runs: threads that do everything at once and keep nothing. It is told by lines on stdin: "go",
# "rest" (it answers with one line when all threads wait, and no object is left that they made), "end".
require "erb"
require "fiddle"
require "json"

LIBRARY, TRIALS = ARGV
COPIES = 16
TAGS = 5
PAYLOADS = Array.new(20) { |i| { "n" => i, "text" => "t" * (i * 30), "list" => (1..i).to_a }.freeze }.freeze

Thread.abort_on_exception = true
$stdout.sync = true
KILLED = [] # rubocop:disable Style/MutableConstant
DONE = Hash.new(0)

Made = Class.new
Record = Struct.new(:number, :text)

core = Fiddle.dlopen(ENV.fetch("SOAK_CORE"))
INTERN = Fiddle::Function.new(core["heapline_tag_intern"], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_LONG], Fiddle::TYPE_INT)
SET = Fiddle::Function.new(core["heapline_tag_set"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT)

def tagged(name)
  before = SET.call(INTERN.call(name, name.bytesize))
  yield
ensure
  SET.call(before)
end

def ended(pid)
  Process.wait2(pid).last
end

def child(status)
  pid = fork do
    Array.new(200) { |i| "c" * i }
    yield if block_given?
    exit!(status)
  end
  ended(pid).exitstatus == status or abort("a child did not end as it should")
end

# Blocks whose number is known: as many are freed as were asked for.
def exact
  500.times { |i| Fiddle.free(Fiddle.malloc(1000 + i)) }
end

def anonymous(turn)
  Class.new(StandardError) { attr_accessor :more }.new("anonymous").more = turn
end

def code(turn)
  # rubocop:disable Style/EvalWithLocation
  eval("proc { 'a' * 300 }", nil, "made.rb", 7).call
  Made.class_eval("def m = 'b' * 400", "made.rb", 17)
  # rubocop:enable Style/EvalWithLocation
  Made.new.m
  Made.send(:remove_method, :m)
  Made.define_method(:d) { "c" * 500 }
  Made.new.d
  Made.send(:remove_method, :d)
  anonymous(turn)
  RubyVM::YJIT.code_gc if (turn % 2000).zero? && defined?(RubyVM::YJIT.code_gc) && RubyVM::YJIT.enabled?
end

def load_and_unload(turn)
  path = File.join(TRIALS, "copy#{turn % COPIES}.so")
  File.binwrite(path, File.binread(LIBRARY)) unless File.exist?(path)
  library = Fiddle.dlopen(path)
  take = Fiddle::Function.new(library["grabber_take"], [Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP)
  Fiddle.free(take.call(10_000 + (turn % COPIES)).to_i)
  library.close
end

def forks(turn)
  case turn % 8
  when 0 then child(3) { Thread.new { "c" * 1000 }.join }
  when 1 then child(4) { child(5) }
  when 2 then ended(spawn("/bin/true"))
  when 3 then ended(fork { exec("/bin/true") })
  when 4 then `true`
  when 5 then child(6) { GC.start }
  when 6 then ended(fork { sleep }.tap { |pid| Process.kill(:KILL, KILLED.push(pid).last) }) if (turn % 64) == 6
  else child(7) { Array.new(3) { |i| Thread.new { "d" * (i * 5000) } }.each(&:join) }
  end
end

def fibers
  made = Array.new(50) { |i| Fiber.new { 4.times { |n| Fiber.yield("f" * (i * n)) } } }
  3.times { made.each(&:resume) }
  # Each that does not end has two mappings until a major GC, and the kernel allows a process 65,530.
  2.times { made.drop(5).each(&:resume) }
  5.times { [1, 2, 3].each.next }
end

def requests(turn)
  tagged("tenant #{turn % TAGS}") do
    PAYLOADS.each { |payload| JSON.parse(JSON.generate(payload)) }
    ERB.new("<% 20.times do |n| %><%= n %> text <% end %>").result
  end
end

def objects
  rows = Array.new(300) { |i| Record.new(i, "r" * (i % 200)) }
  rows.group_by { |row| row.number % 7 }.transform_values(&:size)
end

def threads
  Array.new(4) { |i| Thread.new { Array.new(40) { |n| "t" * (n * i) } } }.each(&:join)
end

WORK = {
  exact: ->(_) { exact }, code: method(:code), libraries: method(:load_and_unload), forks: method(:forks),
  fibers: ->(_) { fibers }, requests: method(:requests), objects: ->(_) { objects }, threads: ->(_) { threads },
  compaction: ->(turn) { (turn % 50).zero? && GC.respond_to?(:compact) ? GC.compact : sleep(0.02) }
}.freeze

# Where the workers wait while they are to rest. The same threads go on: what a thread touches is memory of its own.
class Gate
  def initialize(workers)
    @workers = workers
    @resting = 0
    @open = false
    @lock = Mutex.new
    @changed = ConditionVariable.new
  end

  def open
    @lock.synchronize { change { @open = true } }
  end

  # Returns when all rest.
  def close
    @lock.synchronize do
      @open = false
      @changed.wait(@lock) until @resting == @workers
    end
  end

  def pass
    return if @open

    @lock.synchronize do
      change { @resting += 1 }
      @changed.wait(@lock) until @open
      @resting -= 1
    end
  end

  private

  def change
    yield
    @changed.broadcast
  end
end

# A thread's memory follows the lines that it touches, and in a GC those of all others: so each touches all at first.
def warm_up
  WORK.except(:forks, :compaction).each_value { |action| TAGS.times { |turn| action.call(turn) } }
  GC.start
end

# Classes without end: the tables of objects fill once, and then what is freed is brought together.
70_000.times { |turn| anonymous(turn) }

gate = Gate.new(WORK.size)
warming = Mutex.new
WORK.each do |name, action|
  Thread.new do
    warming.synchronize { warm_up }
    loop do
      gate.pass
      action.call(DONE[name])
      DONE[name] += 1
    end
  end
end

while (word = $stdin.gets&.chomp)
  case word
  when "go" then gate.open
  when "rest"
    gate.close
    4.times { GC.start }
    puts JSON.generate(done: DONE, killed: KILLED, gc_count: GC.count)
  when "end" then break
  end
end
