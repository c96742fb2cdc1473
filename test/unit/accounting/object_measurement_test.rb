# frozen_string_literal: true

require "test_helper"
require "heapline"
require "support/object_snapshots"
require "support/answers"

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

class RepeatedStringTest < Minitest::Test
  def of(*strings)
    Heapline::RepeatedString.of(strings)
  end

  def test_what_is_there_twice
    found = of(["same", "a.rb:1"], ["same", "b.rb:2"], ["same", "b.rb:2"], ["once", "a.rb:1"])
    assert_equal [["same", 3, 4, 8]], (found.map { |one| [one.value, one.times, one.bytes, one.wasted_bytes] })
    assert_equal [["b.rb:2", 2], ["a.rb:1", 1]], found.first.locations.to_a
    assert found.first.frozen?
  end

  def test_those_that_waste_most_come_first
    found = of(*[["a" * 100, "a.rb:1"]] * 2, *[["b", "a.rb:1"]] * 9)
    assert_equal [100, 8], found.map(&:wasted_bytes)
  end

  def test_long_texts_are_cut_and_many_are_bounded
    assert_equal 200, of(*[["x" * 5000, "a.rb:1"]] * 2).first.value.size
    assert_equal 100, of(*(1..300).flat_map { |number| [[number.to_s, "a.rb:1"]] * 2 }).size
  end

  def test_bytes_of_any_encoding
    found = of(*[["\xff\xfe", "a.rb:1"]] * 2, *[["\xff\xfe".b, "a.rb:1"]] * 2)
    assert_equal 2, found.size
  end
end

class RetainedObjectsTest < Minitest::Test
  include Answers

  def test_the_objects_themselves_with_their_lines
    found = ask(<<~RUBY)
      Order = Struct.new(:number)
      KEPT = []
      left = Heapline.objects.retained { 3.times { |n| KEPT << Order.new(n) }; KEPT << BasicObject.new; nil } # line 4
      here = left.select { |one| one.location.lineno == 4 && one.class_name == "Order" }
      answer numbers: here.map { |one| one.object.number }.sort, classes: left.by_class.keys.sort,
             lines: left.by_location.keys.map { |name| File.basename(name) }, size: left.size, text: left.inspect,
             generations: left.map(&:generation).all?(Integer)
    RUBY
    assert_equal [[0, 1, 2], %w[BasicObject Order], ["program.rb:4"], 4, true],
                 found.values_at(:numbers, :classes, :lines, :size, :generations)
    assert_match(/4 of 4 objects are still there/, found[:text])
  end

  def test_they_are_held_weakly
    found = ask(<<~RUBY)
      KEPT = []
      left = Fiber.new { Heapline.objects.retained { 100.times { KEPT << Object.new }; nil } }.resume
      before = Fiber.new { left.count }.resume
      KEPT.clear
      GC.start
      answer before: before, after: left.count, size: left.size
    RUBY
    assert_equal [100, 100], found.values_at(:before, :size)
    assert_operator found[:after], :<=, 2
  end

  def test_compaction_moves_them_and_they_are_found
    found = ask(<<~RUBY)
      KEPT = []
      left = Heapline.objects.retained { 1000.times { |n| KEPT << "text \#{n}" if n.odd? }; nil }
      3.times { GC.compact } if GC.respond_to?(:compact)
      answer same: left.map(&:object).select { |one| String === one }.sort == KEPT.sort
    RUBY
    assert found[:same]
  end

  def test_in_the_order_of_their_generations
    place = Heapline::Places::Location.new(path: "a.rb", lineno: 1)
    objects = Array.new(2) { Object.new }
    left = Heapline::RetainedObjects.new([[objects[0], place, "Object", 9], [objects[1], place, "Object", 3]])
    assert_equal [3, 9], left.map(&:generation)
    assert_equal objects.reverse, left.each.map(&:object)
  end
end
