# frozen_string_literal: true

require "heapline/cli/installation"

module Heapline
  module GrowthLog
    # A growth log that the program has asked for (Heapline.log_growth). It goes on until it is stopped, or until the
    # process and all that was forked from it have ended.
    class Handle
      # Seconds that a line on its way may take when the log is stopped.
      PATIENCE = 5

      # to: name of a file, IO, Logger. options: of `heapline log --companion`.
      def initialize(to, options)
        @pid = Process.pid
        name = file_name(to)
        raise ArgumentError, "a log goes to a file name, an IO or a Logger, not #{to.class}" unless name || taker(to)

        listener, @control = IO.pipe
        lines, pipe = IO.pipe unless name
        start(options + (name ? ["--log", File.expand_path(name)] : ["--pipe", "4"]), listener, pipe)
        @thread = hand_on(lines, taker(to)) if lines
      ensure
        [listener, pipe].each { |io| io&.close }
      end

      # No more lines. In a forked child it does nothing: the log is its parent's too. Returns nil.
      def stop
        return if @control.closed? || Process.pid != @pid

        @control.write_nonblock("stop")
        @control.close
        @thread&.join(PATIENCE)
        nil
      rescue SystemCallError
        nil # it has ended by itself
      end

      private

      def file_name(target)
        return nil if target.is_a?(IO)

        target.respond_to?(:to_path) ? target.to_path : String.try_convert(target)
      end

      # What takes a line: a Method of the target, or nil. A Logger ends lines itself.
      def taker(target)
        return target.method(:write) if target.respond_to?(:write)

        target.method(:info) if target.respond_to?(:info)
      end

      def start(options, listener, pipe)
        words = CLI::Installation.own_process("log", "--companion", "--control", "3", *options, @pid.to_s)
        Native.companion(words.join("\x1f"), listener.fileno, pipe&.fileno)
      rescue SystemCallError => e
        raise Error, "the growth log cannot be started: #{e.message}"
      end

      # Nothing of this thread's own is in any figure. What the target raises ends the log.
      def hand_on(lines, taker)
        thread = Thread.new do
          Heapline.quiet { lines.each_line { |line| taker.call(taker.name == :info ? line.chomp : line) } }
        rescue StandardError => e
          warn "heapline: the growth log ends: #{e.class}: #{e.message}"
        ensure
          lines.close
        end
        thread.name = "heapline growth log"
        thread.report_on_exception = false
        thread
      end
    end
  end
end
