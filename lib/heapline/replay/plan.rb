# frozen_string_literal: true

require_relative "../frozen"
require_relative "../recording/capture"
require_relative "../files/input"

module Heapline
  class Replay
    # What a plan says of itself; see docs/replay-plan.md.
    #
    # name::              the file that was given
    # threads, calls, allocations:: counts; slots:: the most blocks that were alive, about
    # bytes_allocated, peak_live_bytes, end_live_bytes, largest_bytes:: requested
    # left_out::          frees of blocks that are older than the recording
    # recorded_seconds::  how long it took
    # @api private
    Plan = Struct.new(:name, :threads, :calls, :allocations, :slots, :bytes_allocated, :peak_live_bytes,
                      :end_live_bytes, :largest_bytes, :left_out, :recorded_seconds, keyword_init: true) do
      include Frozen
    end

    # Plans as files: made of a capture by heapline/capture.so, read by the replayer. docs/replay-plan.md describes
    # them; here is only their beginning.
    # @api private
    module PlanFile
      MAGIC = "HLPLAN\r\n".b
      SIZE = 136
      FIELDS = %i[threads slots calls allocations bytes_allocated peak_live_bytes end_live_bytes largest_bytes left_out
                  recorded_ns].freeze

      # Write the plan of a capture to `io`, an empty file. Yields [bytes read, bytes in all]. Returns an Array of
      # String: what of the capture could not be read. Raises Error.
      def self.make(path, io, &)
        Extension.load(:capture)
        io.flush
        problems, lost = Native.write_plan(path, io.fileno, &)
        [*problems, *Capture.losses(lost)]
      end

      # The allocator of the program that was recorded, as it calls itself: "jemalloc 5.3.0"; nil where it is a plan.
      # Raises Error where it is no capture either.
      def self.allocator(path)
        return if plan?(path)

        Extension.load(:capture)
        Native::Capture.new(path).header[:allocator]
      end

      # Does a file begin as a plan does?
      def self.plan?(path)
        Input.beginning(path, MAGIC.bytesize) == MAGIC
      end

      # Replay::Plan of a file. name: what it is called. Raises Error.
      def self.read(path, name: path)
        bytes = Input.open(path, pipe: false) { |input| input.beginning(SIZE) }
        raise InputError, "#{name} is no plan" unless bytes.start_with?(MAGIC)
        raise InputError, "#{name} is cut short: it has #{bytes.bytesize} bytes" if bytes.bytesize < SIZE

        threads, _, slots, calls, _, *rest = bytes.unpack("@16 L<2 Q<9 Q<")
        figures = FIELDS.zip([threads, slots, calls, *rest]).to_h
        recorded = figures.delete(:recorded_ns)
        Plan.new(name: name, recorded_seconds: recorded / 1e9, **figures)
      end
    end
  end
end
