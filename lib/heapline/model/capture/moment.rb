# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # A span of a recording.
      #
      # time, seconds::        when it begins, since the recording did; how long it is
      # allocations, bytes::   in it; frees, freed_bytes:: likewise
      # live_bytes::           at its end; most_bytes:: the most in it
      # collections::          GCs that began in it
      # gc_seconds::           for which the program stood still for GC in it; nil: not known
      # rss, heap_bytes::      of the process and of Ruby's object heap, sampled last up to its end; nil: not yet
      Moment = Struct.new(:time, :seconds, :allocations, :bytes, :frees, :freed_bytes, :live_bytes, :most_bytes,
                          :collections, :gc_seconds, :rss, :heap_bytes, keyword_init: true) { include Heap::Frozen }
    end
  end
end
