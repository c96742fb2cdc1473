# frozen_string_literal: true

require "heapline"
require_relative "checks/allocations"
require_relative "checks/growth"
require_relative "checks/leaks"
require_relative "checks/memory"
require_relative "check_text"

module Heapline
  # Checks of memory in tests; heapline/minitest, heapline/test_unit and heapline/rspec make assertions of them. Each
  # has `run`, which runs the block and returns a frozen value. docs/checks.md explains them.
  module Checks
    # What is to be done where heapline is not preloaded, as one sentence.
    def self.remedy
      "heapline is not preloaded in this process, so that memory cannot be checked. Run the tests under it: " \
        "heapline test -- bundle exec rake test"
    end

    # The same where live blocks are not kept, for Leaks.
    def self.blocks_remedy
      "live blocks are not kept in this process, so that lost ones cannot be found. Run the tests so: " \
        "heapline test -- bundle exec rake test"
    end

    # May checks be passed over where heapline is not preloaded?
    def self.optional?
      ENV["HEAPLINE_OPTIONAL"] == "1"
    end
  end
end
