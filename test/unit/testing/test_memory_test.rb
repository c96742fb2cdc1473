# frozen_string_literal: true

require "test_helper"
require "heapline/testing/test_memory"
require "support/leak_reports"

class TestMemoryTest < Minitest::Test
  def test_adds_up_by_file
    tests = [memory("a", "x.rb", 100, 50), memory("b", "x.rb", 10, 70), memory("c", "y.rb", 1, 1)]
    sums = Heapline::Testing::TestMemory.by_file(tests)
    assert_equal(%w[x.rb y.rb], sums.map(&:file))
    first = sums.first
    assert_equal [2, 110, 70, 3.0], [first.tests, first.retained_bytes, first.peak_bytes, first.seconds]
    assert_equal [["l.rb:1", 110, 2]], first.lines
    assert_equal "x.rb", first.location
  end

  def test_says_where
    assert_equal "x.rb:7", memory("a", "x.rb", 1, 1).location
    assert_predicate memory("a", "x.rb", 1, 1), :frozen?
  end

  def test_what_was_born_while_it_ran
    test = Heapline::Testing::TestMemory.new(name: "a", generations: [3, 5])
    assert_equal([false, true, true, false], [2, 3, 5, 6].map { |generation| test.bore?(born(generation)) })
    refute Heapline::Testing::TestMemory.new(name: "a").bore?(born(1))
  end

  def test_what_it_lost
    test = memory("a", "x.rb", 1, 1).with_losses([LeakReports.record, LeakReports.record(bytes: 20, blocks: 1)])
    assert_equal ["a", 100, 3], [test.name, test.lost_bytes, test.lost_blocks]
    assert_equal 200, Heapline::Testing::TestMemory.by_file([test, test]).first.lost_bytes
    assert_equal 0, memory("a", "x.rb", 1, 1).lost_bytes
  end

  private

  def born(generation)
    Heapline::Leaks::LossRecord.new(**LeakReports.record.to_h, first_generation: generation)
  end

  def memory(name, file, retained, peak)
    Heapline::Testing::TestMemory.new(name: name, file: file, line: 7, seconds: 1.5, measuring: 0.1, peak_bytes: peak,
                                      retained_bytes: retained, retained_blocks: 1, retained_objects: 2,
                                      bytes_allocated: 200, allocations: 3, lines: [["l.rb:1", retained, 1]])
  end
end
