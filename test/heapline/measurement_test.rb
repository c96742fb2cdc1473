# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/measurement"

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
