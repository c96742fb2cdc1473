# frozen_string_literal: true

require "test_helper"
require "heapline/checks"

class RetainedObjectsTest < Minitest::Test
  def test_tells_what_stays
    kept = []
    lines = Heapline::Checks::RetainedObjects.of(40) do
      kept << Object.new
      "garbage".dup
    end
    here = lines.select { |line| line.path == __FILE__ }
    assert_equal [["Object", 40]], (here.map { |line| [line.class_name, line.number] })
    assert_equal __LINE__ - 5, here.first.lineno
  end

  def test_tells_all_that_was_made
    lines = Heapline::Checks::RetainedObjects.made { 3.times { "garbage".dup } }
    made = lines.find { |line| line.path == __FILE__ && line.class_name == "String" }
    assert_operator made.number, :>=, 3, "the literals may count too"
    refute GC.enable, "GC is on again"
  end

  def test_anonymous_classes_and_basic_objects_have_names
    kept = []
    type = Class.new(BasicObject)
    lines = Heapline::Checks::RetainedObjects.of(20) { kept << type.new }
    assert_includes lines.map(&:class_name), "(anonymous class)"
  end
end
