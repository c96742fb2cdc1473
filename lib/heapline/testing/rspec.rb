# frozen_string_literal: true

require "rspec/expectations"
require "heapline/testing/checks"
require "heapline/figures/typed"

module Heapline
  # Matchers for RSpec, in every example group after `require "heapline/testing/rspec"`:
  #
  #   expect { Parser.parse(text) }.not_to grow_memory
  #   expect { Parser.parse(text) }.not_to leak_memory
  #   expect { Parser.parse(text) }.not_to need_more_memory_than("24 MB")
  #   expect { Parser.parse(text) }.not_to allocate_more_than(10)
  #
  # They need the preload: `heapline test -- bundle exec rspec`. Without it they fail and say so, or, with
  # HEAPLINE_OPTIONAL=1 in the environment, pass without running their block. allocate_more_than needs none for
  # Ruby objects.
  module Matchers
    # What all matchers share. A subclass has description, needs_preload?, measure(block) and exceeds?, which say
    # whether the block does what the matcher names; and details, the text for when it does so and should not.
    # @api private
    class BlockMatcher
      include ::RSpec::Matchers::Composable

      def supports_block_expectations?
        true
      end

      def supports_value_expectations?
        false
      end

      def matches?(block)
        optional? || (observe(block) && exceeds?)
      end

      def does_not_match?(block) # rubocop:disable Naming/PredicateName -- RSpec's name
        optional? || (observe(block) && !exceeds?)
      end

      def failure_message
        @problem || "expected the block to #{description}, and it did not"
      end

      def failure_message_when_negated
        @problem || "expected the block not to #{description}: #{details}"
      end

      private

      def enabled?
        !needs_preload? || Heapline.enabled?
      end

      def optional?
        !enabled? && Checks.optional?
      end

      def needs_preload?
        true
      end

      # False where nothing can be measured.
      def observe(block)
        return (@problem = Checks.remedy) && false unless enabled?

        @found = measure(block)
        true
      rescue NotEnabled
        (@problem = Checks.blocks_remedy) && false
      end
    end

    # See Checks::Growth.
    # @api private
    class GrowMemory < BlockMatcher
      def initialize(**options)
        super()
        @check = Checks::Growth.new(**options)
      end

      def description
        "grow memory"
      end

      private

      def measure(block)
        @check.run(&block)
      end

      def exceeds?
        @found.grown?
      end

      def details
        Testing::CheckText.growth(@found)
      end
    end

    # See Checks::Memory.
    # @api private
    class NeedMoreMemoryThan < BlockMatcher
      def initialize(limit)
        super()
        @limit = Figures::Typed.bytes(limit)
      end

      def description
        "need more memory than #{Units.bytes(@limit)}"
      end

      private

      def measure(block)
        Checks::Memory.new.run(&block)
      end

      def exceeds?
        @found.bytes > @limit
      end

      def details
        Testing::CheckText.memory_over(@found, @limit)
      end
    end

    # See Checks::Allocations.
    # @api private
    class AllocateMoreThan < BlockMatcher
      def initialize(limit, of: :objects, runs: Checks::Allocations::RUNS)
        super()
        @limit = limit
        @kind = of
        @check = Checks::Allocations.new(limit: limit, of: of, runs: runs)
      end

      def description
        "allocate more than #{@limit} #{@kind}"
      end

      private

      def needs_preload?
        @kind == :blocks
      end

      def measure(block)
        @check.run(&block)
      end

      def exceeds?
        @found.number > @limit
      end

      def details
        Testing::CheckText.allocations_over(@found, @limit)
      end
    end

    # See Checks::Leaks.
    # @api private
    class LeakMemory < BlockMatcher
      def initialize(**options)
        super()
        @check = Checks::Leaks.new(**options)
      end

      def description
        "leak memory"
      end

      private

      def measure(block)
        @check.run(&block)
      end

      def exceeds?
        @found.lost?
      end

      def details
        Testing::CheckText.leaks(@found)
      end
    end

    # Are blocks lost that the block asked for? runs:, library: as for Assertions#assert_no_leaks.
    def leak_memory(**options)
      LeakMemory.new(**options)
    end

    # Does a line hold more memory with each run of the block? iterations:, warmup:, only:, ignore: as for
    # Assertions#assert_no_growth.
    def grow_memory(**options)
      GrowMemory.new(**options)
    end

    # Does the block need more memory at a time than this (bytes, or "24 MB")?
    def need_more_memory_than(limit)
      NeedMoreMemoryThan.new(limit)
    end

    # Does a run of the block allocate more Ruby objects than this, or, with of: :blocks, blocks of malloc?
    def allocate_more_than(limit, **options)
      AllocateMoreThan.new(limit, **options)
    end
  end
end

RSpec::Matchers.include(Heapline::Matchers)
