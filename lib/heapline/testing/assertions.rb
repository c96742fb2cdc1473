# frozen_string_literal: true

require "heapline/testing/checks"
require_relative "../figures/typed"

module Heapline
  # Assertions for frameworks that have `assert(condition, message)`: Minitest (heapline/minitest) and test-unit
  # (heapline/test_unit). They need the preload: `heapline test -- bundle exec rake test`. Without it they fail and say
  # so, or, with HEAPLINE_OPTIONAL=1 in the environment, pass without running their block.
  module Assertions
    # Fails where a line holds more memory with each run of the block. `iterations` runs after `warmup`; a block that
    # seems to grow runs longer. only:, ignore: lines to look at, or not (Regexp, or part of the name of a file, method,
    # library or gem). docs/checks.md has the rule.
    def assert_no_growth(message = nil, iterations: 100, warmup: 10, **lines, &block)
      heapline_check do
        growth = Checks::Growth.new(iterations: iterations, warmup: warmup, **lines).run(&block)
        assert !growth.grown?, heapline_message(message) { Testing::CheckText.growth(growth) }
      end
    end

    # Fails where the block needs more memory at a time than `limit`, beyond what there was before: bytes, or "24 MB".
    # malloc'ed bytes, exact, and the pages that the object heap grew by.
    def assert_memory_under(limit, message = nil, &block)
      bytes = Figures::Typed.bytes(limit)
      heapline_check do
        memory = Checks::Memory.new.run(&block)
        assert memory.bytes <= bytes, heapline_message(message) { Testing::CheckText.memory_over(memory, bytes) }
      end
    end

    # Fails where a run of the block allocates more than `at_most` Ruby objects, or, with of: :blocks, blocks of malloc.
    # The fewest of up to three runs count; runs: 1 counts the first alone. Objects need no preload.
    def assert_allocations(message = nil, at_most:, of: :objects, runs: 3, &block)
      check = Checks::Allocations.new(limit: at_most, of: of, runs: runs)
      heapline_check(needed: of == :blocks) do
        found = check.run(&block)
        assert found.number <= at_most, heapline_message(message) {
          Testing::CheckText.allocations_over(found, at_most)
        }
      end
    end

    # Fails where blocks that the block asked for are lost: nothing leads to them any more. It is run `runs` times.
    # library: Regexp or String: only what such a library asked for. Needs live blocks kept, as `heapline test` does.
    def assert_no_leaks(message = nil, runs: 10, library: nil, &block)
      check = Checks::Leaks.new(runs: runs, library: library)
      heapline_check do
        leaks = check.run(&block)
        assert !leaks.lost?, heapline_message(message) { Testing::CheckText.leaks(leaks) }
      end
    end

    private

    def heapline_check(needed: true)
      return yield if !needed || Heapline.enabled?

      assert Checks.optional?, Checks.remedy
    rescue NotEnabled
      assert Checks.optional?, Checks.blocks_remedy
    end

    def heapline_message(own)
      -> { [own.respond_to?(:call) ? own.call : own, yield].compact.join("\n") }
    end
  end
end
