# frozen_string_literal: true

require_relative "../heap/frozen"

module Heapline
  module Model
    module Capture
      # A GC of a recording.
      #
      # generation::   GC.count from its beginning on
      # time::         seconds since the recording began
      # seconds::      until it ended; Ruby may sweep while the program goes on. nil: that was not seen
      # gc_seconds::   for which the program stood still for it; nil: not known
      # frame::        Frame: the line of the program that ran into it; nil: not known
      Collection = Struct.new(:generation, :time, :seconds, :gc_seconds, :frame, keyword_init: true) do
        include Heap::Frozen
      end
    end
  end
end
