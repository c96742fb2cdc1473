# frozen_string_literal: true

require "test_helper"
require "open3"

module Bench
  # bench/leaks.rb, with little memory.
  class LeaksTest < Minitest::Test
    BENCH = File.expand_path("../../bench/leaks.rb", __dir__)
    SEARCH = /\A0\.0\d GB in \d+ blocks: paused [\d.]+ ms after a GC of [\d.]+ ms; searched in \d+ ms$/

    def test_each_search_is_a_line
      out, status = Open3.capture2e(RbConfig.ruby, BENCH, "--megabytes", "10", "--rounds", "2")
      assert_predicate status, :success?, out
      assert_equal 2, out.lines.grep(SEARCH).size, out
      assert_match(/^[012] of 2 made it wait for at most 50 ms$/, out)
    end
  end
end
