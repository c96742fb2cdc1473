# frozen_string_literal: true

require_relative "../clock"
require_relative "../model"
require_relative "command"
require_relative "running_process"
require_relative "waiting"

module Heapline
  module CLI
    # `heapline baseline PID`: asks a running process to count growth from now on. It sets one bit in the flight file;
    # the process sees it at its next allocation. No signal, no socket.
    class Baseline < Command
      include Clock
      include Waiting

      USAGE_LINE = "baseline [options] PID"
      SUMMARY = "Let a running process count its growth from now on"
      STEP = 0.02

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it counts no more")
        before = Model::Flight.request_baseline(entry.path)
        wait(entry, before[:answered])
      end

      private

      def define(parser)
        define_timeout(parser)
      end

      def wait(entry, answered)
        limit = now + timeout
        said = false
        until (header = Model::Flight.header(entry.path))[:answered] != answered
          return died(entry) unless entry.alive?
          return late(entry) if now >= limit

          say_waiting(entry) unless said
          said = true
          sleep STEP
        end
        @out.puts "baseline #{header[:baseline]} of process #{entry.pid}: growth counts from now on; see it with: " \
                  "heapline report #{entry.pid}"
        OK
      rescue FlightError
        entry.alive? ? raise : died(entry)
      end

      def late(entry)
        raise Error, "process #{entry.pid} has allocated nothing for #{timeout} s (idle, or stopped); the request " \
                     "stays: its next allocation begins the baseline"
      end

      def died(entry)
        raise Error, "process #{entry.pid} ended before it answered"
      end
    end
  end
end
