# frozen_string_literal: true

require "stringio"
require "heapline/testing/test_memory"
require_relative "leak_reports"

# Tests of a suite with known figures.
module SuiteTests
  def tests
    [test("CartTest#test_add", "/app/test/cart_test.rb", line: 12, seconds: 2.5, retained_bytes: 1_020_000,
                                                         retained_blocks: 1000, retained_objects: 1003,
                                                         bytes_allocated: 1_500_000, peak_bytes: 1_100_000,
                                                         lines: [["/app/lib/cart.rb:3", 1_000_000, 990]]),
     test("ItemTest#test_new", "/app/test/item_test.rb", grows: "memory grew\n  at a line")]
  end

  def test(name, file, **figures)
    Heapline::Testing::TestMemory.new(name: name, file: file, line: 4, seconds: 0.5, measuring: 0.1, peak_bytes: 50_000,
                                      retained_bytes: 30_000, retained_blocks: 5, retained_objects: 0,
                                      bytes_allocated: 60_000, allocations: 9, **figures)
  end
end
