# frozen_string_literal: true

require "test_helper"
require "heapline"
require "support/answers"

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
    place = Heapline::Model::Location.new(path: "a.rb", lineno: 1)
    objects = Array.new(2) { Object.new }
    left = Heapline::RetainedObjects.new([[objects[0], place, "Object", 9], [objects[1], place, "Object", 3]])
    assert_equal [3, 9], left.map(&:generation)
    assert_equal objects.reverse, left.each.map(&:object)
  end
end
