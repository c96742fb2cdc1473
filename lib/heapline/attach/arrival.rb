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
      ERRAND = 3 # where no Ruby runs; above these bits, what is asked for
      WITHDRAW = 4 # a start that waits for a safe point
      BITS = 8
      STEP = 0.001
      RTLD_NOW = 2
      MFD_CLOEXEC = 1

      # memory, code: as of Call.
      def initialize(pid, memory, code)
        @pid = pid
        @memory = memory
        @code = code
        @call = Call.new(pid, memory, code)
      end

      # Have a thread of it load this library; :injected, or why that is not done by `limit` (Clock.now).
      def load(library, limit)
        seen = File.identical?(library, "/proc/#{@pid}/root#{library}") ? library : hand_over(library, limit)
        return seen if seen.is_a?(Symbol)

        result = call("dlopen", seen, RTLD_NOW, limit)
        return result unless result == :injected

        await(limit) { (@code = LoadedCode.new(@pid)).core } ? result : :not_loaded
      rescue SystemCallError
        :gone
      end

      # Ask it; text: options, a newline, and code of Ruby that shows frames. Its Answer, or a Symbol: why there is
      # none by `limit`. A library that is being loaded is seen before it can be asked. Where no Ruby runs, any thread
      # will do.
      def ask(what, text, limit)
        find
        before = await(limit) { read.then { |now| now if now.ready == 1 } } or return :not_loaded

        ruby = @code.ruby?
        result = @call.make(@function, text, number: what, any: !ruby, limit: limit)
        return result unless result == :injected

        answer = await(limit) { read.then { |now| now if now.answered != before.answered } }
        answer || (ruby ? late : :slow)
      rescue SystemCallError
        :gone
      end

      # Is it still to do what it was asked for?
      def busy?
        find
        read.then { |now| now.asked != now.answered }
      end

      # Milliseconds for which threads of the process stood still.
      def paused_ms
        (@call.stopped_ns + read.pause_ns) / 1e6
      end

      private

      def late
        read.waits_elsewhere.zero? ? :late : :elsewhere
      end

      def call(function, text, number, limit)
        @call.make(@code.address_of(function), text, number: number, any: true, limit: limit)
      end

      # What the block returns, once that is true; nil: it was not by `limit`.
      def await(limit)
        loop do
          found = yield
          return found if found || Clock.now >= limit

          sleep STEP
        end
      end

      # To a process that sees other files, as memory with a name: the path by which it can load it, or why there is
      # none. The descriptor stays open there.
      def hand_over(library, limit)
        result = call("memfd_create", LoadedCode::CORE, MFD_CLOEXEC, limit)
        return result unless result == :injected

        number = await(limit) { LoadedCode.memory_file(@pid) } or return :not_loaded
        File.open("/proc/#{@pid}/fd/#{number}", "r+b") { |file| IO.copy_stream(library, file) }
        "/proc/self/fd/#{number}"
      rescue SystemCallError
        :not_loaded
      end

      def find
        @function, @place = %w[heapline_arrive heapline_arrival].map { |name| @code.core.address_of(name) }
        File.stat(@code.core.path) # raises where it ended
        raise Error, "process #{@pid} has an earlier version of heapline in it" unless @function && @place
      end

      def read
        Answer.new(*@memory.pread(BYTES, @place).unpack(LAYOUT))
      rescue EOFError # it ended, or has begun another program
        raise Errno::ESRCH
      end
    end
  end
end
