# frozen_string_literal: true

require "bundler/setup" # for fiddle, where it is a bundled gem
require "fiddle"

# The compiled pairs.c, as methods. Each call releases the GVL (Fiddle does so for every function), so Ruby threads
# run these side by side; the line of Ruby that heapline finds for the allocations is the `call` here.
module NativePairs
  LIBRARY = Fiddle.dlopen(ENV.fetch("BENCH_NATIVE"))

  def self.function(name, *arguments)
    Fiddle::Function.new(LIBRARY[name], arguments, Fiddle::TYPE_LONG_LONG)
  end
  private_class_method :function

  PAIRS = function("bench_pair", Fiddle::TYPE_LONG_LONG, Fiddle::TYPE_SIZE_T)
  ALLOCATE = function("bench_allocate", Fiddle::TYPE_VOIDP, Fiddle::TYPE_LONG_LONG, Fiddle::TYPE_SIZE_T)
  RELEASE = function("bench_release", Fiddle::TYPE_VOIDP, Fiddle::TYPE_LONG_LONG)

  BATCHES = 20

  # CPU nanoseconds of a pair, where each of `threads` threads makes `count`. In batches, of which the median counts:
  # what disturbs the machine for a moment is in few of them.
  def self.ns_per_pair(threads:, count:, size: 64)
    batch = count / BATCHES
    workers = Array.new(threads) { Thread.new { Array.new(BATCHES) { PAIRS.call(batch, size) } } }
    workers.flat_map(&:value).sort[threads * BATCHES / 2].fdiv(batch)
  end

  # CPU nanoseconds a pair where one thread allocates batches and another one frees them, over all of them: what the
  # threads do to each other's caches is part of it.
  def self.ns_per_passed_block(batches:, batch: 1_000, size: 64)
    full = SizedQueue.new(2)
    consumer = Thread.new { release_all(full, batch) }
    spent = batches.times.sum { allocate_into(full, batch, size) }
    full.close
    (spent + consumer.value).fdiv(batches * batch)
  end

  # Allocate `count` blocks and keep them; their number.
  def self.keep(count, size: 64)
    blocks = Fiddle::Pointer.malloc(count * Fiddle::SIZEOF_VOIDP)
    ALLOCATE.call(blocks, count, size)
    count
  end

  def self.allocate_into(full, batch, size)
    blocks = Fiddle::Pointer.malloc(batch * Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
    spent = ALLOCATE.call(blocks, batch, size)
    full.push(blocks)
    spent
  end
  private_class_method :allocate_into

  def self.release_all(full, batch)
    spent = 0
    while (blocks = full.pop)
      spent += RELEASE.call(blocks, batch)
    end
    spent
  end
  private_class_method :release_all
end
