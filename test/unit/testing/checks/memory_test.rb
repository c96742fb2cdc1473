# frozen_string_literal: true

require "test_helper"
require "support/answers"

class CheckMemoryTest < Minitest::Test
  include Answers

  def test_malloc_and_the_object_heap
    found = ask(<<~RUBY)
      require "heapline/checks"
      check = ->(&block) { Heapline::Checks::Memory.new.run(&block) }
      check.call { nil }
      answer malloc: check.call { "x" * 20_000_000; nil }.malloc_bytes
      objects = check.call { Array.new(1_000_000) { Object.new }; nil }
      answer objects: objects.object_bytes, bytes: objects.bytes == objects.object_bytes + objects.malloc_bytes
    RUBY
    assert_in_delta 20_000_000, found[:malloc], 100_000
    # A million slots of 40 bytes, since 4.1 of 32, less what was free.
    assert_includes 25_000_000..80_000_000, found[:objects]
    assert found[:bytes]
  end
end

class PeakTest < Minitest::Test
  include Answers

  def test_is_exact_and_forgets_what_was_before
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "fiddle"
      peak = ->(&block) { Heapline::Checks::Peak.during(&block) }
      Fiddle.free(Fiddle.malloc(50_000_000))
      peak.call { nil }
      GC.disable
      answer none: peak.call { nil }
      answer up_and_down: peak.call { Fiddle.free(Fiddle.malloc(3_000_000)); Fiddle.free(Fiddle.malloc(2_000_000)) },
             small: peak.call { Fiddle.free(Fiddle.malloc(300)) }, less: peak.call { 1 }
      inner = nil
      outer = peak.call do
        Fiddle.free(Fiddle.malloc(4_000_000))
        inner = peak.call { Fiddle.free(Fiddle.malloc(1_000_000)) }
      end
      answer outer: outer, inner: inner
    RUBY
    assert_operator found[:none], :<, 2000
    { up_and_down: 3_000_000, small: 300, less: 0, outer: 4_000_000, inner: 1_000_000 }.each do |name, bytes|
      assert_in_delta bytes, found[name], 2000, name
    end
  end

  def test_blocks_in_threads_overlap
    found = ask(<<~RUBY)
      require "heapline/checks"
      require "fiddle"
      begun, go = Queue.new, Queue.new
      long = Thread.new do
        Heapline::Checks::Peak.during { Fiddle.free(Fiddle.malloc(5_000_000)); begun << 1; go.pop }
      end
      begun.pop
      short = Heapline::Checks::Peak.during { Fiddle.free(Fiddle.malloc(1_000_000)) }
      go << 1
      answer long: long.value, short: short
    RUBY
    assert_in_delta 5_000_000, found[:long], 200_000
    assert_in_delta 1_000_000, found[:short], 200_000
  end
end
