# frozen_string_literal: true

require "io/wait"
require_relative "../clock"
require_relative "../errors"
require_relative "../accounting/flight"
require_relative "twin_pipe"
require_relative "visit"

module Heapline
  module Processes
    # Asks a running process for a copy of itself, its twin, that writes what it is asked for: a heap dump, the
    # backtraces of all threads, the pages of its object heap, or its compiled code. The program runs on. The process
    # answers at a safe point of Ruby's after its next allocation; one that waits is visited (Visit).
    class TwinInquiry
      # The task, as the process takes it.
      TASKS = { dump: 1, stacks: 2, pages: 3, code: 4 }.freeze
      GC = 0x100
      STEP = 0.01 # seconds between two looks
      AGAIN = 0.5 # seconds
      # So many seconds without a byte from the twin are its end.
      PATIENCE = 120
      # Its memory goes before its end is told.
      END_PATIENCE = 5
      TAIL = 256

      # What became of it: bytes read, and the seconds for which the program's Ruby threads waited.
      Answer = Struct.new(:bytes, :pause_s, keyword_init: true)

      # entry: FlightDirectory::Entry of a living process. collect: after a full GC there.
      def initialize(entry, task, collect: false)
        @entry = entry
        @asked = Process.pid | ((TASKS.fetch(task) | (collect ? GC : 0)) << 32)
      end

      # Yields what the twin writes, in binary Strings, and returns an Answer. `waiting` is called once where the
      # process does not answer at once. Raises FlightError where it does not answer within `timeout` seconds, ends, or
      # can make no twin; and where what it wrote has no end.
      def read(timeout:, waiting: nil, &block)
        @pipe = TwinPipe.new(@entry.path)
        limit = Clock.now + timeout
        twin = answer(ask, timeout, waiting)
        twin = again(timeout) while twin[:problem] == Native::ANOTHER_TWIN && Clock.now < limit
        @pipe.unlink
        raise FlightError, "process #{@entry.pid}: #{twin[:problem]}" unless twin[:problem].empty?

        bytes = receive(&block)
        status # the process can be asked again
        Answer.new(bytes: bytes, pause_s: twin[:pause_ns] / 1e9)
      ensure
        finish
      end

      private

      # The header's part before.
      def ask
        before = twin
        former = before[:asked]
        refuse(former & 0xffffffff) if former.nonzero?
        before = Native.request_twin(@entry.path, former, @asked)[:twin]
        refuse(before[:asked] & 0xffffffff) if before[:asked] != former
        before
      end

      # Another one who waits for the same process; one that was killed does not.
      def refuse(reader)
        return unless File.exist?(TwinPipe.path(@entry.path, reader)) && Accounting::ProcessIdentity.of(reader)&.alive?

        raise FlightError, "process #{@entry.pid} is answering process #{reader}: try again when that is done"
      end

      # There was an earlier twin. Where its reader was killed, it ends within a second.
      def again(timeout)
        sleep STEP
        answer(ask, timeout, nil)
      end

      def answer(before, timeout, waiting)
        limit = Clock.now + timeout
        again = Clock.now + AGAIN
        @visit = Visit.new(@entry)
        until (now = twin)[:answered_ns] != before[:answered_ns]
          late(timeout) if Clock.now >= limit || !@entry.alive?

          sleep STEP
          @visit.look
          next unless Clock.now >= again

          again += AGAIN
          waiting&.call(@visit.why)
          waiting = nil
          look_again
        end
        now
      rescue FlightError
        @entry.alive? ? raise : ended
      end

      # A request that came at a bad moment is dropped by the process; asking for nothing new lets it look once more.
      def look_again
        Native.request_twin(@entry.path, @asked, @asked)
      end

      def late(timeout)
        ended unless @entry.alive?
        Native.request_twin(@entry.path, @asked, 0)
        raise FlightError, "process #{@entry.pid} has not answered for #{timeout} s: #{why_late}"
      end

      def why_late
        return "it is stopped; SIGCONT lets it go on" if @entry.process.stopped?
        return @visit.why if @visit.why

        "it answers at its next allocation in Ruby (busy in native code? gdb -p #{@entry.pid} -batch -ex bt " \
          "shows where)"
      end

      def ended
        raise FlightError, "process #{@entry.pid} ended before it answered"
      end

      # The number of bytes.
      def receive
        bytes = 0
        tail = "".b
        whole = @pipe.each_chunk(PATIENCE) do |chunk|
          bytes += chunk.bytesize
          tail = end_of(tail + end_of(chunk))
          yield chunk
        end
        cut(bytes, whole) unless tail.end_with?("}\n") && tail.include?(TwinPipe::LAST_LINE)
        bytes
      end

      def end_of(text)
        text.byteslice([text.bytesize - TAIL, 0].max, TAIL)
      end

      def cut(bytes, whole)
        raise FlightError, "process #{@entry.pid}: its copy has written nothing for #{PATIENCE} s" unless whole

        raise FlightError, "process #{@entry.pid}: its copy ended in the middle, after #{bytes} bytes#{reason}"
      end

      def reason
        signal = status & 0x7f
        return "" if signal.zero? || signal == 0x7f

        " (signal #{Signal.signame(signal)}#{", memory was short?" if signal == 9})"
      end

      # The twin's end is told a moment after its pipe's; -1 where it is not.
      def status
        limit = Clock.now + END_PATIENCE
        sleep STEP while (status = twin[:status]) == -1 && Clock.now < limit && @entry.alive?
        status
      rescue FlightError
        -1
      end

      def twin
        Accounting::Flight.header(@entry.path)[:twin]
      end

      # What is left of the twin goes with the process's next allocation.
      def finish
        @pipe&.close
        look_again if @entry.alive?
      rescue FlightError
        nil
      end
    end
  end
end
