# frozen_string_literal: true

require "support/flight_builder"

# Answers the requests in a flight file as its process would.
module Answering
  REQUEST = FlightBuilder::HEADER[:request].first
  FIGURES = FlightBuilder::HEADER[:figures].first

  # struct hl_figures, taken at `time` (nanoseconds).
  def figures_bytes(time, objects: [10, 16_384, 300, 100, 12_000], allocator: [0, 5_000_000, 0, 700_000],
                    arenas: [[9_000_000, 5_000_000]], trim: [90_000_000, 80_000_000])
    [time, *objects, time, *allocator].pack("Q*") + [arenas.size, 0].pack("LL") +
      arenas.flatten.pack("Q*").ljust(512, "\0") + [time, *trim].pack("Q*")
  end

  # A thread that waits for a request and answers it; its value: the request's bits.
  def answer_with(path, bytes)
    Thread.new do
      bits = await("no request came") { File.binread(path, 4, REQUEST).unpack1("L").nonzero? }
      File.binwrite(path, [0].pack("L"), REQUEST)
      File.binwrite(path, bytes, FIGURES)
      bits
    end
  end

  def nanoseconds
    Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)
  end
end
