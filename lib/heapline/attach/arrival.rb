# frozen_string_literal: true

require_relative "../clock"
require_relative "../errors"
require_relative "call"

module Heapline
  module Attach
    # Has heapline's core in another process begin or end counting, where need be after it has been loaded there: the
    # other side of ext/heapline_core/lifecycle/arrival.h.
    class Arrival
      # struct heapline_arrival of ext/heapline_core/heapline_core.h.
      Answer = Struct.new(:asked, :answered, :pause_ns, :result, :waits_elsewhere, :ready)
      LAYOUT = "Q<Q<Q<l<L<Q<"
      BYTES = 40
      START = 1
      STOP = 2
      STEP = 0.001
      RTLD_NOW = 2

      # code: LoadedCode of the process.
      def initialize(pid, code)
        @pid = pid
        @code = code
        @call = Call.new(pid, code)
      end

      # Have a thread of it load this library; :injected, or why that is not done by `limit` (Clock.now).
      def load(library, limit)
        result = @call.make(@code.address_of("dlopen"), library, number: RTLD_NOW, any: true, limit: limit)
        return result unless result == :injected

        sleep STEP until (@code = LoadedCode.new(@pid)).core || Clock.now >= limit
        @code.core ? result : :not_loaded
      end

      # Ask it; text: options, a newline, and code of Ruby that shows frames. Its Answer, or a Symbol: why there is
      # none by `limit`. A library that is being loaded is seen before it can be asked.
      def ask(what, text, limit)
        find
        sleep STEP until (before = read).ready == 1 || Clock.now >= limit
        return :not_loaded unless before.ready == 1

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

      def find
        @function, @place = %w[heapline_arrive heapline_arrival].map { |name| @code.core.address_of(name) }
        raise Error, "process #{@pid} has heapline of an earlier version in it" unless @function && @place
      end

      def read
        bytes = File.open("/proc/#{@pid}/mem", "rb") { |memory| memory.pread(BYTES, @place) }
        Answer.new(*bytes.unpack(LAYOUT))
      end
    end
  end
end
