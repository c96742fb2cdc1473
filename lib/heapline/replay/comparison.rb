# frozen_string_literal: true

require_relative "advice"
require_relative "plan"
require_relative "variant"

module Heapline
  class Replay
    # One plan on several allocators.
    class Comparison
      # plan: Plan; variants: Array of Variant, all with as many runs; the first is what the others are compared with.
      # missing: Array of String, allocators that were not measured, and why.
      # problems: Array of String, what of the recording could not be read. touching: :none, :written or :all.
      # time_only: was nothing but time measured?
      attr_reader :plan, :variants, :missing, :problems, :touching, :time_only

      def initialize(plan:, variants:, missing: [], problems: [], touching: :written, time_only: false)
        @plan = plan
        @variants = variants.freeze
        @missing = missing.freeze
        @problems = problems.freeze
        @touching = touching
        @time_only = time_only
        freeze
      end

      # What the others are compared with.
      def baseline
        variants.first
      end

      # How often each was measured.
      def rounds
        baseline.runs.size
      end

      def advice
        Advice.new(self)
      end
    end
  end
end
