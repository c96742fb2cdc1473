# frozen_string_literal: true

require_relative "../clock"
require_relative "../errors"
require_relative "call"

module Heapline
  module Attach
    # Has heapline's core in another process begin or end counting: the other side of
    # ext/heapline_core/lifecycle/arrival.h.
    class Arrival
      # struct heapline_arrival of ext/heapline_core/heapline_core.h.
      Answer = Struct.new(:asked, :answered, :pause_ns, :result, :waits_elsewhere)
      LAYOUT = "Q<Q<Q<l<L<"
      BYTES = 32
      START = 1
      STOP = 2
      STEP = 0.001

      # code: LoadedCode of the process, with a core in it.
      def initialize(pid, code)
        @pid = pid
        @call = Call.new(pid, code)
        @function, @place = %w[heapline_arrive heapline_arrival].map { |name| code.core.address_of(name) }
        raise Error, "process #{pid} has heapline of an earlier version in it" unless @function && @place
      end

      # Ask it; text: options, a newline, and code of Ruby that shows frames. Its Answer, or a Symbol: why there is
      # none, in so many seconds.
      def ask(what, text, timeout:)
        limit = Clock.now + timeout
        before = read
        result = @call.make(@function, text, number: what, limit: limit)
        return result unless result == :injected

        sleep STEP until (answer = read).answered != before.answered || Clock.now >= limit
        return answer if answer.answered != before.answered

        answer.waits_elsewhere.zero? ? :late : :elsewhere
      rescue SystemCallError
        :gone
      end

      # Milliseconds for which threads of the process stood still.
      def paused_ms
        (@call.stopped_ns + read.pause_ns) / 1e6
      end

      private

      def read
        bytes = File.open("/proc/#{@pid}/mem", "rb") { |memory| memory.pread(BYTES, @place) }
        Answer.new(*bytes.unpack(LAYOUT))
      end
    end
  end
end
