# frozen_string_literal: true

require "heapline/command/installation"

# The growth log, asked for by the program itself.
module Heapline
  class << self
    # From now on write down what this process, and what is forked from it, holds: a line of JSON every `every` seconds
    # (docs/growth-log.md has its keys), with the `top` sites by growth, by live bytes and by allocation rate.
    #
    #   log = Heapline.log_growth(to: "log/heapline-%p.jsonl", every: 60)
    #   log.stop
    #
    # to: the name of a file (%p: the pid, %h: the host), an IO or what has `write`, or a Logger (its `info`). A process
    # beside this one writes; for an IO or Logger a thread hands each line on, which sleeps in between. rss: bytes of
    # RSS from which the flight file is copied once. max: bytes of a file and its FILE.1, where its first half goes (100
    # MB; 0: no bound). Returns a GrowthLog::Handle. Raises NotEnabled without the preload, ArgumentError, and Error
    # where it cannot be started.
    def log_growth(to:, every: 60, top: 20, rss: nil, max: nil)
      raise ArgumentError, "every is a number of seconds above 0, not #{every.inspect}" unless every.to_f.positive?

      Native.flight_path || raise(Error, "no growth log: it is written from the flight file, and this process has none")
      options = ["--every", format("%.3f", every), "--top", Integer(top).to_s, *(["--rss", Integer(rss).to_s] if rss),
                 *(["--log-max", Integer(max).to_s] if max)]
      quiet { GrowthLog::Handle.new(to, options) }
    end
  end

  # @api private
  module GrowthLog
    # A growth log that the program has asked for (Heapline.log_growth). It goes on until it is stopped, or until the
    # process and all that was forked from it have ended.
    # @api public
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
        words = Command::Installation.own_process("log", "--companion", "--control", "3", *options, @pid.to_s)
        Native.companion(words.join("\x1f"), listener.fileno, pipe&.fileno)
      rescue SystemCallError => e
        raise Error, "the growth log cannot be started: #{e.message}"
      end

      # Nothing of this thread's own is in any figure. What the target raises ends the log.
      def hand_on(lines, taker)
        thread = Thread.new do
          Heapline.quiet { lines.each_line { |line| taker.call(taker.name == :info ? line.chomp : line) } }
        rescue StandardError => e
          Error.say("the growth log ends: #{e.class}: #{e.message}")
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
