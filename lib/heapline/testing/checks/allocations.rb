# frozen_string_literal: true

require_relative "../findings"
require_relative "retained_objects"

module Heapline
  module Checks
    # How many Ruby objects, or malloc'ed blocks, a run of a block allocates. At its first run Ruby makes objects of its
    # own (caches of calls and constants), and other threads are counted too: so the block is run up to three times,
    # until one run is within the limit, and the fewest count.
    class Allocations
      RUNS = 3
      KINDS = %i[objects blocks].freeze
      LINES = 5

      # limit: count from which on the block is run again. of: :objects or :blocks. runs: at most so many.
      def initialize(limit:, of: :objects, runs: RUNS)
        raise ArgumentError, "of: :objects or :blocks, not #{of.inspect}" unless KINDS.include?(of)
        raise ArgumentError, "runs: at least 1, not #{runs}" unless runs.positive?

        @limit = limit
        @kind = of
        @runs = runs
      end

      # Run it: Testing::BlockAllocations. Raises what the block raises; NotEnabled for :blocks without the preload.
      def run(&)
        fewest = count(&)
        runs = 1
        fewest = [fewest, count(&)].min while fewest > @limit && (runs += 1) <= @runs
        Testing::BlockAllocations.new(kind: @kind, number: fewest, lines: (fewest > @limit ? lines(&) : []).freeze)
      end

      private

      def count(&)
        @kind == :objects ? objects(&) : Heapline.measure(gc: false, &).allocations
      end

      # No object lies between the two figures that is not the block's.
      def objects
        before = GC.stat(:total_allocated_objects)
        yield
        GC.stat(:total_allocated_objects) - before
      end

      # By which lines, in one more run.
      def lines(&)
        return made(&) if @kind == :objects

        top = Heapline.measure(gc: false, &).top(LINES, by: :allocations)
        top.map { |site| [site.location.name, site.location.gem || site.location.label, site.allocations] }
      end

      def made(&)
        RetainedObjects.made(&).map { |line| [line.location, line.class_name, line.number] }
      end
    end
  end
end
