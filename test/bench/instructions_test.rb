# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "support"
require_relative "../../bench/harness/instructions"

module Bench
  # The gate of the hot path: the instructions that heapline adds to each call. They are the same on a busy machine. A
  # limit is what was counted when it was set last, and a tenth: who makes a call dearer sees it here, who makes it
  # cheaper sets the limit anew.
  class InstructionsTest < Minitest::Test
    CORE = File.expand_path("../../lib/heapline/libheapline.so", __dir__)
    LIMITS = { "pair" => 196, "reallocate" => 300, "usable_size" => 1, "passed" => 204 }.freeze

    def setup
      skip "no valgrind here" unless system("valgrind", "--version", out: File::NULL, err: File::NULL)
      skip "the limits are those of Ruby 3.1, and of glibc" unless RUBY_VERSION.start_with?("3.1")
    end

    def test_no_call_costs_more_than_it_did
      added = counted("quiet")

      assert_equal LIMITS.keys, added.keys
      LIMITS.each { |call, limit| assert_operator added[call], :<=, limit, "#{call}: #{added}" }
    end

    def test_what_does_more_at_each_call_is_seen
      added = counted("quiet,blocks")

      %w[pair reallocate passed].each { |call| assert_operator added[call], :>, LIMITS[call], "#{call}: #{added}" }
    end

    private

    def counted(options)
      Dir.mktmpdir do |directory|
        library = File.join(directory, "pairs.so")
        assert system("cc", "-O2", "-fPIC", "-shared", "-o", library, Equipment::PAIRS)
        Instructions.new(library, core: CORE, options: options).added
      end
    end
  end
end
