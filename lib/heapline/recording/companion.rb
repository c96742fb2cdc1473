# frozen_string_literal: true

require "io/wait"
require "json"
require_relative "../accounting/flight_directory"
require_relative "recording"
require_relative "naming"

module Heapline
  class Recording
    # `heapline record --companion PID FILE`: started by the core beside a program that records itself
    # (Heapline.record). It says "ready", takes the ring when there is one, and says in a line of JSON what became of
    # it.
    class Companion
      STEP = 0.02 # seconds between two looks
      ENDURED = %w[HUP INT TERM XFSZ].freeze

      # out: where it speaks. control: what ends here says that there will be no recording.
      def initialize(words, env:, out: File.for_fd(3, "w"), control: File.for_fd(4, "r"))
        @pid, @pattern = words
        @env = env
        @out = out
        @control = control
      end

      def call
        ENDURED.each { |signal| trap(signal, "IGNORE") }
        tell(record.to_h)
        Command::OK
      rescue Error => e
        tell({ problem: e.message })
        Command::FAILED
      end

      private

      def record
        entry = Accounting::FlightDirectory.new(@env).fetch(@pid.to_i)
        Extension.load(:capture)
        naming = Naming.new(@pattern)
        naming.check
        @out.puts "ready"
        @out.flush
        recording = Recording.new(ring(Recording::Rings.beside(entry.path)), naming.path(entry.pid))
        recording.run(STEP) until (ending = recording.ending)
        recording.finish(ending)
      end

      def ring(path)
        wait until Native::Drain.asked_by(path)
        path
      end

      def wait
        raise Error, "the recording did not begin" if @control.wait_readable(0.001)
      end

      def tell(answer)
        @out.puts JSON.generate(answer)
        @out.flush
      rescue Errno::EPIPE
        nil # the program has ended; the capture is whole
      end
    end
  end
end
