# frozen_string_literal: true

require "test_helper"
require "support/cli"

module Heapline
  module Leaks
    # By way of the commands that have them.
    class LossRulesTest < Minitest::Test
      include CliHelper

      def test_suppressions_that_hid_nothing_are_named
        File.write(File.join(@directory, "x.supp"), "leak:nosuch\nleak:other\nleak:third\nleak:fourth\n")
        words = ["--suppressions", File.join(@directory, "x.supp"), RbConfig.ruby, "-e", "1"]
        assert_match(%r{^heapline: suppressions that hid nothing: leak:nosuch \(\S*/x\.supp:1\), .*, and 1 more$},
                     heapline("leaks", *words).err)
      end

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
