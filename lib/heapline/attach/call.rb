# frozen_string_literal: true

require_relative "../accounting/process_identity"
require_relative "../clock"
require_relative "../errors"
require "heapline/native"
require_relative "loaded_code"
require_relative "machine"

module Heapline
  module Attach
    # Has a thread of another process call a function of that process: the first that stands at a safe place (see
    # ext/heapline/injector.h), tried again and again until the time is over.
    class Call
      # Seconds between two rounds over all threads.
      PAUSE = 0.002
      # Threads that wait are asked first; so many, that a round is short.
      THREADS = 16
      STOPPABLE = %w[S R].freeze # states

      # Nanoseconds for which threads were stopped, and how often one was.
      attr_reader :stopped_ns, :stops

      # memory: File of the process's /proc/PID/mem, opened before `code` was read: LoadedCode of the process.
      def initialize(pid, memory, code)
        @pid = pid
        @memory = memory
        @code = [code.find(Machine.here.returning), code.libc.address_of("exit")]
        raise Error, "process #{pid} has an unknown C library" unless @code.all?

        avoided = [code.libc, code.loader, *code.allocators].uniq.flat_map(&:ranges)
        @avoided = avoided.flat_map { |range| range.first(2) }.pack("Q*")
        @stopped_ns = @stops = 0
      end

      # Call function(text, number) there, in the main thread, or in any. :injected, or why not, when `limit`
      # (Clock.now) has come.
      def make(function, text, number: 0, any: false, limit: Clock.now)
        loop do
          result = round(any ? threads : [@pid], function, text, number)
          return result if %i[injected forbidden gone replaced].include?(result) || Clock.now >= limit

          sleep PAUSE
        end
      end

      private

      def round(threads, function, text, number)
        result = :gone
        threads.each do |thread|
          found, stopped = Native.inject(thread, @memory, @code, function, text, number, @avoided)
          @stops += 1
          @stopped_ns += stopped
          return found if %i[injected forbidden replaced].include?(found)

          result = found if thread == @pid || found != :gone # another thread may end at any moment
        end
        result
      end

      # The main thread first: what waits, waits for it. Of the others those that can be stopped.
      def threads
        others = Dir.children("/proc/#{@pid}/task").map(&:to_i) - [@pid]
        [@pid, *others.first(THREADS * 4).select { |thread| STOPPABLE.include?(state(thread)) }.first(THREADS - 1)]
      rescue SystemCallError
        []
      end

      def state(thread)
        Accounting::ProcessIdentity.stat(thread)&.first
      end
    end
  end
end
