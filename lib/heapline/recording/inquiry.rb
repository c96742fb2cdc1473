# frozen_string_literal: true

require_relative "../clock"
require_relative "../errors"
require_relative "../model/flight"
require_relative "rings"

module Heapline
  class Recording
    # Asks a running process for its ring. It answers at its next allocation.
    class Inquiry
      STEP = 0.005 # seconds between two looks
      AGAIN = 0.5 # seconds after which the user is told that this waits

      # entry: Model::FlightDirectory::Entry of a living process.
      # native: with C frames.
      def initialize(entry, native: false)
        @entry = entry
        @what = native ? :native : true
        @ring = Rings.beside(entry.path)
      end

      # The path of the ring. `waiting` is called once where it does not come at once. Raises FlightError where it does
      # not come within `timeout` seconds, or cannot.
      def ring(timeout:, waiting: nil)
        limit = Clock.now + timeout
        said = Clock.now + AGAIN
        ask
        until Native::Drain.asked_by(@ring)
          look
          late(timeout) if Clock.now >= limit
          if waiting && Clock.now >= said
            waiting.call
            waiting = nil
          end
          sleep STEP
        end
        @ring
      end

      private

      def ask
        @answered = Model::Flight.request_record(@entry.path, on: @what)[:answered]
      end

      # Did it answer, and what? For two who ask at once one ring is made. The other one may have taken it: then this
      # one asks again.
      def look
        raise FlightError, "process #{@entry.pid} ended before it answered" unless @entry.alive?

        header = Model::Flight.header(@entry.path)
        return if header[:answered] == @answered || Native::Drain.asked_by(@ring)

        refuse(header[:record_problem])
        ask
      end

      def refuse(errno)
        return if errno.zero?
        raise FlightError, "process #{@entry.pid} is being recorded already" if errno == Errno::EBUSY::Errno

        raise FlightError, "process #{@entry.pid} cannot be recorded: #{SystemCallError.new(nil, errno).message} " \
                           "(its ring would lie in #{File.dirname(@ring)})"
      end

      def late(timeout)
        Model::Flight.withdraw_record(@entry.path)
        Rings.refuse(@ring) if Native::Drain.asked_by(@ring) # it came just now
        raise FlightError, "process #{@entry.pid} has not answered for #{timeout} s: it begins at its next " \
                           "allocation (idle, or stopped?)"
      end
    end
  end
end
