# frozen_string_literal: true

require "test_helper"
require "heapline/accounting/measure"
require "support/answers"
require "support/snapshots"

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

class MeasurementTest < Minitest::Test
  include Snapshots

  def setup
    sites = [site("a.rb", 1, allocations: 9, frees: 4, bytes_allocated: 900, bytes_freed: 400, live_bytes: 500,
                             live_blocks: 5),
             site("b.rb", 2, allocations: 1, frees: 3, bytes_allocated: 10, bytes_freed: 30, live_bytes: -20,
                             live_blocks: -2)]
    @measurement = Heapline::Measurement.new(value: :value, difference: snapshot(*sites), seconds: 0.5)
  end

  def test_adds_up_the_sites
    assert_equal [910, 430, 10, 7],
                 [@measurement.bytes_allocated, @measurement.bytes_freed, @measurement.allocations, @measurement.frees]
    assert_equal [480, 3], [@measurement.retained_bytes, @measurement.retained_blocks]
  end

  def test_is_enumerable_over_its_sites
    assert_equal(%w[a.rb:1 b.rb:2], @measurement.map { |site| site.location.to_s })
    assert_equal "a.rb:1", @measurement.top(1, by: :live_bytes).first.location.to_s
    assert_equal 1, @measurement["b.rb:2"].allocations
  end

  def test_is_frozen_and_says_what_it_is
    assert_predicate @measurement, :frozen?
    assert_match(/allocated 910 bytes in 10 blocks, freed 430 in 7, retained 480 in 3/, @measurement.inspect)
    assert_equal [:value, 0.5], [@measurement.value, @measurement.seconds]
  end
end
