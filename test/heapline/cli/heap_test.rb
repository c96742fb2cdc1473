# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/heap"

module Heapline
  module CLI
    class HeapTest < Minitest::Test
      include CliHelper

      def test_lists_its_commands
        [%w[heap], %w[heap --help], %w[help heap]].each do |words|
          result = heapline(*words)
          assert_equal 0, result.status
          COMMANDS.keys.grep(/\Aheap /).each { |name| assert_match(/^  heapline #{name} +\w/, result.out) }
        end
      end

      def test_help_of_one
        assert_match(/\Ausage: heapline heap histo /, heapline("help", "heap", "histo").out)
      end

      def test_what_is_none
        result = heapline("heap", "nonsense")
        assert_equal 2, result.status
        assert_match(/no such command: heap nonsense; there are heap dump, .*\(heapline help heap\)$/, result.err)
      end
    end
  end
end
