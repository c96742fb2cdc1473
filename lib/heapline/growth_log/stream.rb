# frozen_string_literal: true

module Heapline
  module GrowthLog
    # Writes lines to an IO that stays open, such as standard output. A reader that has gone ends the log (EPIPE).
    class Stream
      def initialize(io)
        @io = io
      end

      def write(_pid, line)
        @io.write(line)
        @io.flush
        true
      end

      # Is there any use in going on?
      def open?
        true
      end

      # No file stands for a directory here.
      def directory(_pid); end
    end
  end
end
