# frozen_string_literal: true

require "test_helper"
require "support/cli"

module Heapline
  module Leaks
    # By way of the commands that have them.
    class LossRulesTest < Minitest::Test
      include CliHelper

      def test_rules_are_read_before_anything_runs
        mark = File.join(@directory, "ran")
        { "leaks" => ["touch", mark], "test" => ["--fail-on", "leaks", "--", "touch", mark] }.each do |command, words|
          assert_match(/--library: /, heapline(command, "--library", "(", *words).err)
          assert_match(/nosuch/, heapline(command, "--suppressions", "/nosuch", *words).err)
          refute_path_exists mark
        end
      end
    end
  end
end
