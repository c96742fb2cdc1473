# frozen_string_literal: true

require "test_helper"
require "heapline"
require "support/object_snapshots"

class ObjectMeasurementTest < Minitest::Test
  include ObjectSnapshots

  def setup
    sites = [objects_at("/g/gems/rack-3.0/a.rb", 1, "String", allocated: 9, freed: 4, retained: 5),
             objects_at("b.rb", 2, "Order", allocated: 7, retained: 6, retained_bytes: 240)]
    @measurement = Heapline::ObjectMeasurement.new(value: :value, seconds: 0.5, objects: objects(*sites))
  end

  def test_totals_and_rows
    assert_equal [16, 4, 11], [@measurement.allocated, @measurement.freed, @measurement.retained]
    assert_equal [:value, 0.5, 2], [@measurement.value, @measurement.seconds, @measurement.count]
    assert_equal ["Order"], @measurement.top(1).map(&:class_name)
    assert_equal 6, @measurement["b.rb:2"].retained
  end

  def test_groups_the_most_retained_first
    assert_equal([["Order", 6], ["String", 5]], @measurement.group_by(:class).map { |name, one| [name, one.retained] })
    assert_equal [nil, "rack"], @measurement.group_by(:gem).keys
    assert_equal [1, 1], @measurement.group_by(&:retained).values.map(&:size)
  end

  def test_says_what_it_is
    assert_predicate @measurement, :frozen?
    assert_match(/allocated 16, freed 4, retained 11/, @measurement.inspect)
  end

  def test_the_report
    io = StringIO.new
    assert_nil @measurement.print(io)
    assert_equal io.string, @measurement.to_s
    assert_match(/\Aheapline objects  0.5 s [·-] allocated 16 [·-] retained 11/, @measurement.to_s)
  end
end
