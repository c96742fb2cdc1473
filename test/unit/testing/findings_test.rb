# frozen_string_literal: true

require "test_helper"
require "heapline/testing/findings"

class BlockMemoryTest < Minitest::Test
  def test_adds_up_both_kinds
    memory = Heapline::Testing::BlockMemory.new(malloc_bytes: 1000, object_bytes: 65_536)
    assert_equal 66_536, memory.bytes
    assert_predicate memory, :frozen?
  end
end

class BlockAllocationsTest < Minitest::Test
  def test_is_frozen
    assert_predicate Heapline::Testing::BlockAllocations.new(kind: :objects, number: 3, lines: []), :frozen?
  end
end

class GrowthFindingTest < Minitest::Test
  def test_values_are_frozen
    finding = Heapline::Testing::GrowthFinding.new(kind: :memory, slope: 4.0)
    assert_predicate finding, :frozen?
    assert_equal [], finding.lines
    growth = Heapline::Testing::BlockGrowth.new(findings: [finding], iterations: 410, own_thread: false)
    assert_predicate growth, :frozen?
    assert_predicate growth, :grown?
    refute_predicate Heapline::Testing::BlockGrowth.new(findings: []), :grown?
  end

  def test_a_line_says_where
    line = Heapline::Testing::RetainedLine.new(path: "app.rb", lineno: 12, class_name: "String", number: 1, bytes: 40)
    assert_equal "app.rb:12", line.location
    assert_equal "(unknown)", Heapline::Testing::RetainedLine.new(class_name: "String").location
  end
end
