# frozen_string_literal: true

require_relative "estimate"

module Heapline
  module Model
    module Replay
      # An allocator with its settings, and what the replays on it measured.
      class Variant
        # allocator: its name and version, "jemalloc 5.3.0"; library: its path, nil: libc's own; settings: Hash of
        # environment variables; runs: Array of Run, in the order of the rounds
        attr_reader :allocator, :library, :settings, :runs

        def initialize(allocator:, runs:, library: nil, settings: {})
          @allocator = allocator
          @library = library
          @settings = settings.freeze
          @runs = runs.freeze
          freeze
        end

        # "glibc 2.36 MALLOC_ARENA_MAX=2"
        def name
          [allocator, *settings.map { |key, value| "#{key}=#{value}" }].join(" ")
        end

        # The Estimate of a figure of Run; nil where it has none.
        def estimate(figure)
          values = runs.map(&figure)
          Estimate.new(values) unless values.any?(&:nil?)
        end

        # The same for how it differs from `other`, as a part of it (-0.1: a tenth less), round by round: what slows the
        # machine down for a while slows down both.
        def change(other, figure)
          parts = runs.zip(other.runs).map do |mine, theirs|
            of = theirs.public_send(figure).to_f
            of.zero? ? 0.0 : (mine.public_send(figure) - of) / of
          end
          Estimate.new(parts)
        end

        # The part of RSS at its peak that is not what the program had asked for at its own peak: 0 to 1.
        def fragmentation(plan)
          peak = estimate(:peak_bytes).median
          peak.positive? ? [1 - (plan.peak_live_bytes / peak.to_f), 0.0].max : 0.0
        end

        # The Run whose peak is in the middle.
        def typical
          runs.sort_by(&:peak_bytes)[runs.size / 2]
        end
      end
    end
  end
end
