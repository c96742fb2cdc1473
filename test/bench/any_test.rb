# frozen_string_literal: true

require "test_helper"
require "open3"

module Bench
  # bench/any.rb, one small round.
  class AnyTest < Minitest::Test
    BENCH = File.expand_path("../../bench/any.rb", __dir__)

    def test_each_program_under_each_tool_is_a_line
      out, status = Open3.capture2e(RbConfig.ruby, BENCH, "--quick")
      assert_predicate status, :success?, out
      assert_equal %w[trees.c words.cpp], out.scan(/^(\S+) +time +CPU +RSS +of plain: \d+\.\d+ s, \d+ MB$/).flatten
      ["heapline", "heapline record", "heapline leaks"].each do |tool|
        assert_equal 2, out.scan(/^  #{tool} +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d$/).size, out
      end
    end
  end
end
