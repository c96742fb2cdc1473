# frozen_string_literal: true

require "test_helper"
require "open3"

module Bench
  # The benchmark of heap dumps, small and without other tools.
  class HeapTest < Minitest::Test
    BENCH = File.expand_path("../../bench/heap.rb", __dir__)

    def test_a_table_of_what_was_measured
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "--objects", "20000", "--no-peers")
      assert_predicate status, :success?, output
      rows = output.lines.grep(/\A\| heapline, .* \| \d+\.\d\d \| \d+\.\d\d \| \d+ \| \d+ \| \d+\.\d\d \|$/)
      assert_equal 4, rows.size, output
    end

    def test_a_mistake_on_the_command_line_is_one_line
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "--file", "/nowhere", "--no-peers")
      refute_predicate status, :success?
      assert_match(%r{\Abench: .*/nowhere\n\z}, output)
    end
  end
end
