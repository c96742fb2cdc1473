# frozen_string_literal: true

require "fiddle"

# One kind of call, COUNT times, in C but for `fiber`: ruby calls.rb KIND COUNT. BENCH_BEFORE: code to run first.
module Calls
  SIZE = 64
  NUMBER = Fiddle::TYPE_LONG_LONG
  LIBRARY = Fiddle.dlopen(ENV.fetch("BENCH_NATIVE"))

  def self.run(kind, count)
    case kind
    when "passed" then pass(count)
    when "fiber" then take_turns(count)
    else function("bench_#{kind}", NUMBER, Fiddle::TYPE_SIZE_T).call(count, SIZE)
    end
  end

  # A malloc in another fiber than the one before it.
  def self.take_turns(count)
    fibers = Array.new(2) { Fiber.new { loop { Fiber.yield("x" * 100) } } }
    count.times { |turn| fibers[turn % 2].resume }
  end

  # Blocks that another thread frees.
  def self.pass(count)
    blocks = Fiddle::Pointer.malloc(count * Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
    function("bench_allocate", Fiddle::TYPE_VOIDP, NUMBER, Fiddle::TYPE_SIZE_T).call(blocks, count, SIZE)
    release = function("bench_release", Fiddle::TYPE_VOIDP, NUMBER)
    Thread.new { release.call(blocks, count) }.join
  end

  def self.function(name, *types)
    Fiddle::Function.new(LIBRARY[name], types, NUMBER)
  end
end

# One more or less would be 70 instructions a call.
GC.disable
TOPLEVEL_BINDING.eval(ENV.fetch("BENCH_BEFORE", ""))
Calls.run(ARGV.fetch(0), Integer(ARGV.fetch(1)))
