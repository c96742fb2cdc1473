# frozen_string_literal: true

require "test_helper"
require "open3"

module Bench
  # bench/attach.rb, each program once.
  class AttachTest < Minitest::Test
    BENCH = File.expand_path("../../bench/attach.rb", __dir__)

    def test_each_program_is_a_line
      out, status = Open3.capture2e(RbConfig.ruby, BENCH, "--tries", "2")
      assert_predicate status, :success?, out
      assert_equal 5, out.scan(/ 2 of 2  pause +[\d.]+ +[\d.]+ +[\d.]+  took .* went on$/).size, out
      assert_equal 1, out.scan(/^2 GB, 200 threads +1 of 1 .* went on$/).size, out
    end
  end
end
