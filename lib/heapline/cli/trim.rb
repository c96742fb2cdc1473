# frozen_string_literal: true

require_relative "../format/units"
require_relative "../model/flight_directory"
require_relative "../model/inquiry"
require_relative "command"
require_relative "running_process"

module Heapline
  module CLI
    # `heapline trim PID`: lets the allocator of a running process give its free memory back to the kernel. A thread of
    # its own does it there; while it works, glibc's arenas are locked one after the other.
    class Trim < Command
      USAGE_LINE = "trim [options] PID"
      SUMMARY = "Let a process give freed memory back to the kernel"
      TIMEOUT = 10.0

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has nothing to give back")
        timeout = @options.fetch(:timeout, TIMEOUT)
        figures = Model::Inquiry.new(entry).ask(timeout: timeout, trim: true)
        raise Error, problem(entry, timeout) unless figures

        @out.puts result(entry.pid, figures.trim_before_bytes, figures.trim_after_bytes)
        OK
      end

      private

      def define(parser)
        parser.on("--timeout S", Float, "wait so many seconds for the answer (10)") do |value|
          @options[:timeout] = value
        end
      end

      def result(pid, before, after)
        change = before - after
        said = change.negative? ? "grew by #{Format::Units.bytes(-change)}" : "gave back #{Format::Units.bytes(change)}"
        "process #{pid} #{said}: RSS was #{Format::Units.bytes(before)}, is #{Format::Units.bytes(after)}"
      end

      def problem(entry, timeout)
        return "process #{entry.pid} ended before it answered" unless entry.alive?

        "process #{entry.pid} has not answered for #{timeout} s: it answers after its next allocation (idle, or " \
          "stopped?)"
      end
    end
  end
end
