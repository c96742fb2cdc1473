# frozen_string_literal: true

require "test_helper"
require "support/cli"
require "heapline/cli/version"

module Heapline
  module CLI
    class VersionTest < Minitest::Test
      include CliHelper

      def test_prints_the_version
        %w[version --version -v].each do |word|
          assert_equal [0, "heapline #{VERSION}\n"], heapline(word).to_a.first(2)
        end
      end
    end
  end
end
