# frozen_string_literal: true

module Heapline
  module Model
    module Replay
      # What a plan says of itself; see docs/replay-plan.md.
      #
      # name::              the file that was given
      # threads, calls, allocations:: counts; slots:: the most blocks that were alive, about
      # bytes_allocated, peak_live_bytes, end_live_bytes, largest_bytes:: requested
      # left_out::          frees of blocks that are older than the recording
      # recorded_seconds::  how long it took
      Plan = Struct.new(:name, :threads, :calls, :allocations, :slots, :bytes_allocated, :peak_live_bytes,
                        :end_live_bytes, :largest_bytes, :left_out, :recorded_seconds, keyword_init: true) do
        def initialize(**figures)
          super
          freeze
        end
      end
    end
  end
end
