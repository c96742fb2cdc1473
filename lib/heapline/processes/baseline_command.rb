# frozen_string_literal: true

require_relative "../clock"
require_relative "../accounting/flight"
require_relative "../command/base"
require_relative "running_process"
require_relative "visit"

module Heapline
  module Processes
    # `heapline baseline PID`: asks a running process to count growth from now on. It sets one bit in the flight file;
    # the process sees it at its next allocation, or when it is visited. No signal, no socket.
    class BaselineCommand < Command::Base
      include Clock
      include RunningProcess

      USAGE_LINE = "baseline [options] PID"
      SUMMARY = "Make a running process count its growth from now on"
      STEP = 0.02
      SAID = 0.25 # seconds after which the user is told that this waits

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it counts no more")
        before = Accounting::Flight.request_baseline(entry.path)
        wait(entry, before[:answered])
      end

      private

      def define(parser)
        define_timeout(parser)
      end

      def wait(entry, answered)
        limit = now + timeout
        said = false
        visit = Visit.new(entry)
        until (header = Accounting::Flight.header(entry.path))[:answered] != answered
          return died(entry) unless entry.alive?
          return late(entry, visit.why) if now >= limit

          sleep STEP
          visit.look
          said ||= say_late(entry, visit.why) if now >= limit - timeout + SAID
        end
        @out.puts "baseline #{header[:baseline]} of process #{entry.pid}: growth counts from now on; see it with: " \
                  "heapline report #{entry.pid}"
        Command::OK
      rescue FlightError
        entry.alive? ? raise : died(entry)
      end

      def say_late(entry, why)
        say_waiting(entry, why)
        true
      end

      def late(entry, why)
        raise Error, "process #{entry.pid} has allocated nothing for #{timeout} s#{" (#{why})" if why}; the request " \
                     "stays: its next allocation begins the baseline"
      end

      def died(entry)
        raise Error, "process #{entry.pid} ended before it answered"
      end
    end
  end
end
