# frozen_string_literal: true

require "test_helper"
require "open3"

module Bench
  # The benchmark of replays, with one workload, once.
  class ReplayTest < Minitest::Test
    BENCH = File.expand_path("../../bench/replay.rb", __dir__)

    def test_a_table_of_what_was_measured
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "--print", "--only", "strings", "--plain", "1",
                                       "--rounds", "1")
      assert_predicate status, :success?, output
      assert_match(/^\| strings \| \d+\.\d+ MB .* \| \d+\.\d+ MB .* \| [+-]\d+\.\d %/, output)
    end

    def test_a_mistake_on_the_command_line_is_one_line
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "--only", "nothing")
      refute_predicate status, :success?
      assert_match(/\Abench: .*\n\z/, output)
    end
  end
end
