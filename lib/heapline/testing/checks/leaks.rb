# frozen_string_literal: true

require_relative "../../leaks/api"

module Heapline
  module Checks
    # Which blocks that a block of code asked for are lost when it has run: Heapline.leaks. It is run several times,
    # since a word left over on a stack may make one lost block look reachable.
    class Leaks
      RUNS = 10

      # runs: how often the block is run. library: as for Heapline.leaks.
      def initialize(runs: RUNS, library: nil)
        raise ArgumentError, "runs: at least 1, not #{runs}" unless runs.positive?

        @runs = runs
        @library = library
      end

      # Run it: Leaks::Findings of what was born meanwhile. Raises what the block raises; NotEnabled where this process
      # does not keep its blocks.
      def run
        since = Heapline.quiet do
          GC.start # a new generation
          Native.generation
        end
        @runs.times { yield } # rubocop:disable Style/ExplicitBlockArgument -- without an argument
        Heapline.leaks(since: since, library: @library)
      end
    end
  end
end
