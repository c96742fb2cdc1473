# frozen_string_literal: true

require_relative "../format/units"
require_relative "../model/flight_directory"
require_relative "../model/inquiry"
require_relative "command"
require_relative "running_process"
require_relative "waiting"

module Heapline
  module CLI
    # `heapline trim PID`: lets the allocator of a running process give its free memory back to the kernel. A thread of
    # its own does it there; while it works, glibc's arenas are locked one after the other.
    class Trim < Command
      include Waiting

      USAGE_LINE = "trim [options] PID"
      SUMMARY = "Let a process give freed memory back to the kernel"

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has nothing to give back")
        figures = Model::Inquiry.new(entry).ask(timeout: timeout, trim: true)
        raise Error, problem(entry) unless figures

        @out.puts result(entry.pid, figures.trim_before_bytes, figures.trim_after_bytes)
        OK
      end

      private

      def define(parser)
        define_timeout(parser)
      end

      def result(pid, before, after)
        change = before - after
        said = change.negative? ? "grew by #{Format::Units.bytes(-change)}" : "gave back #{Format::Units.bytes(change)}"
        "process #{pid} #{said}: RSS was #{Format::Units.bytes(before)}, is #{Format::Units.bytes(after)}"
      end

      def problem(entry)
        return "process #{entry.pid} ended before it answered" unless entry.alive?

        "process #{entry.pid} has not answered for #{timeout} s: it answers after its next allocation (idle, or " \
          "stopped?)"
      end
    end
  end
end
