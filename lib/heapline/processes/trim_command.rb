# frozen_string_literal: true

require_relative "../figures/units"
require_relative "../accounting/flight_directory"
require_relative "figures_inquiry"
require_relative "../command/base"
require_relative "running_process"
require_relative "../table/json_object"

module Heapline
  module Processes
    # `heapline trim PID`: lets the allocator of a running process give its free memory back to the kernel. A thread of
    # its own does it there; while it works, glibc's arenas are locked one after the other.
    class TrimCommand < Command::Base
      include RunningProcess
      include Table::JsonObject

      SCHEMA_VERSION = 1
      USAGE_LINE = "trim [options] PID"
      SUMMARY = "Make a process give freed memory back to the kernel"

      def call(argv)
        entry = RunningProcess.find(parse(argv), @env, dead: "it has nothing to give back")
        inquiry = FiguresInquiry.new(entry, env: @env)
        figures = inquiry.ask(timeout: timeout, trim: true)
        raise Error, problem(entry, inquiry.why) unless figures

        tell(entry.pid, figures.trim_before_bytes, figures.trim_after_bytes)
        Command::OK
      end

      private

      def define(parser)
        define_format(parser, %w[text json])
        define_timeout(parser)
      end

      def tell(pid, before, after)
        return @out.puts(result(pid, before, after)) unless json?

        write({ schema_version: SCHEMA_VERSION, pid: pid, rss_before_bytes: before, rss_after_bytes: after }, @out)
      end

      def result(pid, before, after)
        change = before - after
        said = change.negative? ? "grew by #{Units.bytes(-change)}" : "gave back #{Units.bytes(change)}"
        "process #{pid} #{said}: RSS was #{Units.bytes(before)}, is #{Units.bytes(after)}"
      end

      def problem(entry, why)
        return "process #{entry.pid} ended before it answered" unless entry.alive?

        "process #{entry.pid} has not answered for #{timeout} s: " \
          "#{why || "it answers after its next allocation (busy in native code?)"}"
      end
    end
  end
end
