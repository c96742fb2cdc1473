# frozen_string_literal: true

module Heapline
  module Model
    module Replay
      # What one replay of a plan measured. Bytes of RSS are what it grew by above what was there before the first call.
      #
      # seconds::           within the allocator's functions, of all threads; touch_seconds:: writing to the blocks
      # wall_seconds, cpu_seconds:: of the whole replay, with its own work
      # minor_faults, major_faults:: page faults
      # peak_bytes, final_bytes:: RSS at its highest, and after the last call
      # trimmed_bytes::     RSS after the allocator was told to give back what it can; nil where it has no way to
      # samples::           Array of [calls, live bytes, bytes of RSS], in their order
      # calls::             Hash of "malloc", "calloc", "aligned", "realloc", "free" to { count:, seconds: }
      # interrupted::       calls that are not in seconds: another process got the processor meanwhile
      Run = Struct.new(:seconds, :touch_seconds, :wall_seconds, :cpu_seconds, :minor_faults, :major_faults, :peak_bytes,
                       :final_bytes, :trimmed_bytes, :samples, :calls, :interrupted, keyword_init: true) do
        def initialize(**figures)
          super
          freeze
        end

        # Bytes of the peak that were gone at the end.
        def returned_bytes
          peak_bytes - final_bytes
        end

        def faults
          minor_faults + major_faults
        end
      end
    end
  end
end
