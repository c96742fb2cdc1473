# frozen_string_literal: true

require_relative "../objects/snapshot"
require_relative "../processes/running_process"
require_relative "../processes/visit"
require_relative "naming"
require_relative "recording"
require_relative "written"
require_relative "../clock"
require_relative "../errors"
require_relative "../accounting/flight"
require_relative "rings"

module Heapline
  class Recording
    # A running process that is recorded from now on: until Ctrl-C, for a time, or to its end.
    class Running
      include Processes::RunningProcess

      STEP = 0.05 # seconds between two looks
      LEAVING = 2.0 # seconds for which the end is waited for: a process that works in native code ends it late

      def initialize(words, env:, err:, output: nil, duration: nil, native: false, objects: false, **options)
        @err = err
        @options = options
        @naming = Naming.new(output)
        @objects = objects
        @duration = duration
        @native = native
        @entry = Processes::RunningProcess.find(words, env, dead: "it allocates nothing any more")
      end

      # The exit status.
      def call
        Extension.load(:capture)
        check_objects if @objects
        @naming.check
        inquiry = Recording::Inquiry.new(@entry, native: @native)
        ring = inquiry.ring(timeout: timeout, waiting: ->(why) { say_waiting(@entry, why) })
        interruptible do
          @recording = Recording.new(ring, @naming.path(@entry.pid))
          drain
        end
        Command.say(@err, Written.line(@recording.finish(@recording.ending || "stopped")))
        Command::OK
      end

      private

      # They are recorded as they are accounted.
      def check_objects
        Objects.demand(@entry.pid, Accounting::Flight.header(@entry.path)[:objects_ns].positive?)
      end

      # SIGTERM and Ctrl-C end the recording, not the process.
      def interruptible
        former = %w[INT TERM].to_h { |name| [name, trap(name) { @enough = true }] }
        yield
      ensure
        former.each { |name, handler| trap(name, handler || "DEFAULT") }
      end

      def drain
        limit = Clock.now + @duration if @duration
        @recording.run(STEP) until @recording.ending || @enough || (limit && Clock.now >= limit)
        return if @recording.ending

        @recording.ask_to_end
        limit = Clock.now + LEAVING
        visit = Processes::Visit.new(@entry)
        until @recording.ending || Clock.now >= limit
          @recording.run(STEP)
          visit.look
        end
      rescue FlightError
        nil # it has gone
      end
    end

    # Asks a running process for its ring. It answers at Ruby's next safe point; where it waits it is visited (Visit).
    class Inquiry
      STEP = 0.005 # seconds between two looks
      AGAIN = 0.5 # seconds after which the user is told that this waits

      # entry: Accounting::FlightDirectory::Entry of a living process.
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
        @visit = Processes::Visit.new(@entry)
        ask
        until Native::Drain.asked_by(@ring)
          look
          @visit.look
          late(timeout) if Clock.now >= limit
          if waiting && Clock.now >= said
            waiting.call(@visit.why)
            waiting = nil
          end
          sleep STEP
        end
        @ring
      end

      private

      def ask
        @answered = Accounting::Flight.request_record(@entry.path, on: @what)[:answered]
      end

      # Did it answer, and what? For two who ask at once one ring is made. The other one may have taken it: then this
      # one asks again.
      def look
        raise FlightError, "process #{@entry.pid} ended before it answered" unless @entry.alive?

        header = Accounting::Flight.header(@entry.path)
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
        Accounting::Flight.withdraw_record(@entry.path)
        Rings.refuse(@ring) if Native::Drain.asked_by(@ring) # it came just now
        raise FlightError, "process #{@entry.pid} has not answered for #{timeout} s: " \
                           "#{@visit.why || "it begins at its next safe point in Ruby (busy in native code?)"}"
      end
    end
  end
end
