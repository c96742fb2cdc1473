# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "support/leak_reports"
require "heapline/leaks/leaks_command"

module Heapline
  module Leaks
    # What needs no process under accounting; the rest: test/integration/leaks_test.rb.
    class LeaksCommandTest < Minitest::Test
      include CliHelper

      def test_usage
        assert_match(/which process, or which command/, heapline("leaks").err)
        assert_equal Command::USAGE, heapline("leaks", "--format", "none", "x").status
        assert_match(/--any is for a command/, heapline("leaks", "--any", Process.pid.to_s).err)
        assert_match(/--library/, heapline("leaks", "--library", "(", "x").err)
      end

      def test_suppressions_are_read_before_anything_runs
        file = File.join(@directory, "bad.supp")
        File.write(file, "nonsense\n")
        result = heapline("leaks", "--suppressions", file, "touch", File.join(@directory, "ran"))
        assert_match(/bad.supp:1: not understood/, result.err)
        refute File.exist?(File.join(@directory, "ran"))
      end

      def test_a_command_that_is_not_there
        result = heapline("leaks", "no-such-command")
        assert_equal Command::NOT_FOUND, result.status
        assert_match(/command not found/, result.err)
      end
    end
  end
end
