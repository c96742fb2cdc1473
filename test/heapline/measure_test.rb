# frozen_string_literal: true

require "test_helper"
require "support/answers"

class MeasureTest < Minitest::Test
  include Answers

  # The garbage is made on a stack that goes: what a left-over word of the stack points to, GC keeps. Marking takes
  # memory of its own: no GC but those that `measure` asks for.
  def test_tells_what_stays_from_what_goes
    found = ask(<<~RUBY)
      GC.disable
      measured = Heapline.measure do
        KEPT = Array.new(100) { "k" * 1_000 }
        Fiber.new { 10.times { "g" * 100_000 } }.resume
        :value
      end
      answer allocated: measured.bytes_allocated, retained: measured.retained_bytes, value: measured.value,
             line: measured.top(1, by: :live_bytes).first.location.to_s, temporary: measured.temporary
    RUBY
    assert_in_delta 1_100_000, found[:allocated], 20_000, "Ruby makes the fiber too"
    assert_in_delta 100_000, found[:retained], 5000
    assert_equal "value", found[:value]
    assert_match(/program\.rb:4\z/, found[:line])
  end

  def test_measuring_is_not_measured
    found = ask(<<~RUBY)
      m = nil
      3.times { m = Heapline.measure { nil } }
      answer allocated: m.bytes_allocated, sites: m.sites.size
    RUBY
    assert_equal({ allocated: 0, sites: 0 }, found)
  end

  def test_without_gc_the_garbage_counts
    found = ask(<<~RUBY)
      GC.disable
      answer retained: Heapline.measure(gc: false) { 10.times { "g" * 100_000 } }.retained_bytes
    RUBY
    assert_in_delta 1_000_000, found[:retained], 5000
  end

  def test_what_the_block_raises_comes_out
    found = ask("begin; Heapline.measure { raise KeyError }; rescue KeyError; answer raised: true; end")
    assert found[:raised]
  end
end
