# frozen_string_literal: true

require_relative "../capture/extension"
require_relative "../capture/losses"
require_relative "../errors"
require_relative "../model/replay"

module Heapline
  class Replay
    # Plans as files: made of a capture by heapline/capture.so, read by the replayer. docs/replay-plan.md describes
    # them; here is only their beginning.
    module PlanFile
      MAGIC = "HLPLAN\r\n".b
      SIZE = 136
      FIELDS = %i[threads slots calls allocations bytes_allocated peak_live_bytes end_live_bytes largest_bytes left_out
                  recorded_ns].freeze

      # Write the plan of a capture to `io`, an empty file. Yields [bytes read, bytes in all]. Returns an Array of
      # String: what of the capture could not be read. Raises Error.
      def self.make(path, io, &)
        Capture::Extension.load
        io.flush
        problems, lost = Native.write_plan(path, io.fileno, &)
        [*problems, *Capture::Losses.words(lost)]
      end

      # The allocator of the program that was recorded, as it calls itself: "jemalloc 5.3.0"; nil where it is a plan.
      # Raises Error where it is no capture either.
      def self.allocator(path)
        return if plan?(path)

        Capture::Extension.load
        Native::Capture.new(path).header[:allocator]
      end

      # Does a file begin as a plan does?
      def self.plan?(path)
        File.file?(path) && File.binread(path, MAGIC.bytesize) == MAGIC
      end

      # Model::Replay::Plan of a file. name: what it is called. Raises Error.
      def self.read(path, name: path)
        bytes = File.binread(path, SIZE)
        raise Error, "#{name}: it is no plan" unless bytes&.start_with?(MAGIC)
        raise Error, "#{name}: it is cut short" if bytes.bytesize < SIZE

        threads, _, slots, calls, _, *rest = bytes.unpack("@16 L<2 Q<9 Q<")
        figures = FIELDS.zip([threads, slots, calls, *rest]).to_h
        recorded = figures.delete(:recorded_ns)
        Model::Replay::Plan.new(name: name, recorded_seconds: recorded / 1e9, **figures)
      rescue SystemCallError => e
        raise Error, "#{name} cannot be read: #{Error.reason(e)}"
      end
    end
  end
end
