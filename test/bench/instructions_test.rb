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
    LIMITS = { "pair" => 191, "reallocate" => 309, "usable_size" => 1.1, "passed" => 196, "fiber" => 283 }.freeze
    # Begun late, a usable size has to be looked for: older blocks have no room for a trailer.
    LATE = LIMITS.merge("usable_size" => 82, "fiber" => 368).freeze
    ENDED = LIMITS.transform_values { 5 }.freeze
    NOT_BEGUN = { "pair" => 36, "reallocate" => 50, "usable_size" => 33, "passed" => 36, "fiber" => 47 }.freeze

    QUIET = { "HEAPLINE" => "quiet" }.freeze
    REQUIRE = "$LOAD_PATH.unshift(#{File.dirname(CORE, 2).dump}); require 'heapline'".freeze

    def setup
      skip "no valgrind here" unless system("valgrind", "--version", out: File::NULL, err: File::NULL)
      skip "the limits are those of Ruby 3.1, and of glibc" unless RUBY_VERSION.start_with?("3.1")
    end

    def test_no_call_costs_more_than_it_did
      added = counted(preloaded("quiet"))

      assert_equal LIMITS.keys, added.keys
      assert_within LIMITS, added
    end

    def test_counting_that_began_late_costs_the_same
      assert_within LATE, counted(QUIET, before: "#{REQUIRE}; Heapline.start or abort")
    end

    def test_counting_that_ended_costs_nothing
      assert_within ENDED, counted(QUIET, before: "#{REQUIRE}; Heapline.start && Heapline.stop or abort")
    end

    def test_counting_that_was_not_begun_costs_little
      assert_within NOT_BEGUN, counted(preloaded("quiet,off"))
    end

    def test_what_does_more_at_each_call_is_seen
      added = counted(preloaded("quiet,blocks"))

      %w[pair reallocate passed].each { |call| assert_operator added[call], :>, LIMITS[call], "#{call}: #{added}" }
    end

    private

    def preloaded(options) = { "LD_PRELOAD" => CORE, "HEAPLINE" => options }

    def assert_within(limits, added)
      limits.each { |call, limit| assert_operator added[call], :<=, limit, "#{call}: #{added}" }
    end

    def counted(environment, before: "")
      Dir.mktmpdir do |directory|
        library = File.join(directory, "pairs.so")
        assert system("cc", "-O2", "-fPIC", "-shared", "-o", library, Equipment::NATIVE.fetch("pairs"))
        Instructions.new(library, environment: environment, before: before).added
      end
    end
  end
end
