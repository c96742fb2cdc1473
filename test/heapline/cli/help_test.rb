# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/help"

module Heapline
  module CLI
    class HelpTest < Minitest::Test
      include CliHelper

      def test_lists_every_command
        [[], ["help"], ["--help"], ["-h"]].each do |words|
          result = heapline(*words)
          assert_equal 0, result.status
          COMMANDS.keys.grep_v(/ /).each { |name| assert_match(/^  heapline #{name} +\w/, result.out) }
        end
      end

      def test_commands_of_two_words
        assert_match(/no such command: ps all;/, heapline("help", "ps", "all").err)
      end

      def test_an_unknown_command
        result = heapline("help", "me")
        assert_equal [2, "heapline: no such command: me; there are #{COMMANDS.keys.join(", ")} (heapline help)\n"],
                     [result.status, result.err]
      end
    end
  end
end
