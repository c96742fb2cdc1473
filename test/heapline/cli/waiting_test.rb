# frozen_string_literal: true

require "test_helper"
require "support/cli"

module Heapline
  module CLI
    class WaitingTest < Minitest::Test
      include CliHelper

      # One option, with what each command waits for unless it is given.
      def test_the_option
        { "trim" => "10", "baseline" => "10", "stack" => "10", "rss" => "1" }.each do |command, seconds|
          assert_match(/--timeout S +wait so many seconds for its answer \(#{seconds}\)/, heapline("help", command).out)
        end
      end
    end
  end
end
