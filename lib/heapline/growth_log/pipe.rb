# frozen_string_literal: true

module Heapline
  module GrowthLog
    # Writes lines to a pipe whose reader may be slow or hang: never waits. A line that found room for its beginning is
    # brought to its end before the next one; until then further lines are lost.
    class Pipe
      def initialize(io)
        @io = io
        @rest = ""
        @open = true
      end

      # Has nobody closed the other end?
      def open?
        flush
        @open
      end

      # false: the line is lost.
      def write(_pid, line)
        return false unless flush

        @rest = line.b
        flush
        @open
      end

      # No file stands for a directory here.
      def directory(_pid); end

      private

      # Is nothing left to write?
      def flush
        @rest = @rest.byteslice(@io.write_nonblock(@rest)..) until @rest.empty?
        true
      rescue IO::WaitWritable
        false
      rescue SystemCallError
        @open = false
      end
    end
  end
end
