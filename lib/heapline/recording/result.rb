# frozen_string_literal: true

require_relative "../frozen"

module Heapline
  class Recording
    # What was recorded. path: of the capture; pid: of the process; ending: how it ended (String); events, bytes: that
    # the capture has; lost: events that found no room in the ring; dropped: events that could not be written, and
    # errno: why (0: nothing is wrong); elapsed_ns: how long the recording took; waited_ns: how long the program's
    # threads, all together, waited for it; stacks_refused: how often a frame or a stack found no room in its table (0:
    # no stack was cut); objects_until_ns: after how long Ruby objects ended to be recorded, as Ruby did not tell of
    # them any more (0: they did not). Frozen.
    # @api public
    Result = Struct.new(:path, :pid, :ending, :events, :bytes, :lost, :dropped, :errno, :elapsed_ns, :waited_ns,
                        :stacks_refused, :objects_until_ns, keyword_init: true) do
      include Frozen

      # Is every event in the capture, with its whole stack?
      def whole?
        missing.zero? && stacks_refused.zero? && objects_until_ns.zero?
      end

      # Events that are not in the capture.
      def missing
        lost + dropped
      end

      # Seconds.
      def duration
        elapsed_ns / 1e9
      end
    end
  end
end
