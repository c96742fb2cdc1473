# frozen_string_literal: true

require "shellwords"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../accounting/late_start"
require_relative "../accounting/run_options"
require_relative "../errors"
require_relative "../figures/units"
require_relative "arrival"
require_relative "target"

module Heapline
  # @api private
  module Attach
    # One process that is attached to, or detached from, and what is said of it.
    class Session
      # It is as it is wanted.
      class Nothing < Error; end

      ALREADY = -Errno::EALREADY::Errno
      WITHDRAWN = -Errno::ECANCELED::Errno
      # enum hl_request of ext/heapline_core/flight/flight_layout.h, what a program without Ruby can be asked.
      REQUESTS = { survey: 1 << 2, trim: 1 << 3, leaks: 1 << 8, since: 1 << 9, reachable: 1 << 10 }.freeze
      REASONS = {
        forbidden: "ptrace is forbidden here; in a container: docker run --cap-add SYS_PTRACE",
        gone: "it ended",
        replaced: "it has begun another program; try again",
        lost: "its thread could not be stopped",
        not_loaded: "its loader did not load heapline's library, or has not finished",
        no_room: "its main thread has no room on its stack",
        unsafe: "its main thread came to no safe place (it waits for a lock, handles a signal, or ends); try again",
        slow: "it has not done it in time; the command takes effect when it has",
        elsewhere: "its main thread waits in a library, not in Ruby; the command takes effect when that returns",
        late: "its main thread did not come to a safe point of Ruby; the command takes effect at the next one"
      }.freeze

      def initialize(pid, env:, timeout:)
        @pid = pid
        @env = env
        @timeout = timeout
        @target = Target.new(pid, env)
      end

      # Begin to count in it, with these options (of RunOptions). What is said of that (String); raises Error.
      # record: the file in which it is to be recorded then, or nil.
      def attach(options, record: nil)
        @target.check(Clock.now + @timeout)
        fail_with("has no Ruby objects: no Ruby runs in it; attach without --objects") if
          options[:objects] && !@target.code.ruby?
        found = counted and fail_with("is counted already#{instead(found, options, record)}", Nothing)

        arrival, answer = ask(Arrival::START, "#{Accounting::RunOptions.to_env(options)}\n#{frames}")
        fail_with("is counted already", Nothing) if answer.result == ALREADY
        fail_with("was not attached to: heapline detach #{@pid} withdrew it") if answer.result == WITHDRAWN

        check(answer)
        "attached to #{title}: paused #{paused(arrival)}; #{older}; next: heapline top #{@pid}"
      rescue SystemCallError, InputError
        fail_unanswered(:gone)
      end

      # End it, or an attach that still waits. What is said of that (String); raises Error.
      def detach
        @target.check(Clock.now + @timeout)
        return "the attach that waited for #{title} is withdrawn: it is not counted" if withdrawn?

        fail_with("is not counted: heapline attach #{@pid} counts it", Nothing) unless @target.code.core && counted

        arrival, answer = ask(Arrival::STOP, "\n")
        check(answer)
        "detached from #{title}: paused #{paused(arrival)}; what it held then: heapline report #{@pid}"
      rescue SystemCallError, InputError
        fail_unanswered(:gone)
      end

      # Where no Ruby runs: have a thread of heapline's own begin what is asked for, names of REQUESTS. Raises Error.
      def errand(*requests)
        @target.check(Clock.now + @timeout)
        _, answer = ask(Arrival::ERRAND + (REQUESTS.values_at(*requests).sum << Arrival::BITS), "\n")
        return if answer.result.zero?

        error = SystemCallError.new(nil, -answer.result)
        fail_with(error.is_a?(Errno::ESRCH) ? "is not counted any more" : "can start no thread: #{Error.reason(error)}")
      rescue SystemCallError, InputError
        fail_unanswered(:gone)
      end

      private

      def withdrawn?
        return false if @target.code.core.nil? || counted
        return false unless Arrival.new(@pid, @target.memory, @target.code).busy?

        _, answer = ask(Arrival::WITHDRAW, "\n")
        answer.result == WITHDRAWN
      end

      def ask(what, text)
        limit = Clock.now + @timeout
        arrival = Arrival.new(@pid, @target.memory, @target.code)
        loaded = @target.code.core ? :injected : arrival.load(Command::Installation.core, limit)
        answer = loaded == :injected ? arrival.ask(what, text, limit) : loaded
        fail_unanswered(@target.gone? ? :gone : answer) if answer.is_a?(Symbol)
        [arrival, answer]
      end

      def check(answer)
        return if answer.result.zero?

        error = SystemCallError.new(nil, -answer.result)
        fail_with("cannot: #{Accounting::LateStart.reason(error)}")
      end

      # The header of its flight file, where it is counted.
      def counted
        found = header
        found if found && %i[running forked].include?(found[:state]) && found[:stopped_ns].zero?
      end

      # What to do where it is counted, perhaps not as it is wanted.
      def instead(found, options, record)
        known = { objects: found[:objects_ns].positive?, blocks: found[:options].split(",").include?("blocks") }
        lacking = options.keys.reject { |key| known[key] }.map { |key| Accounting::RunOptions::KEYS.fetch(key).name }
        file = Shellwords.escape(record) if record
        return "; #{file ? "record it with: heapline record -o #{file}" : "see it with: heapline top"} #{@pid}" if
          lacking.empty?

        again = [*lacking, *("--record #{file}" if file), @pid].join(" ")
        ", without #{lacking.join(" and ")}: heapline detach #{@pid}, then heapline attach #{again}"
      end

      def header
        entry = Accounting::FlightDirectory.new(@env).find(@pid)
        Accounting::Flight.header(entry.path) if entry&.alive?
      end

      def title
        "#{@pid} (#{@target.name})"
      end

      def paused(arrival)
        format("%.1f ms", arrival.paused_ms)
      end

      def older
        found = header or raise Errno::ESRCH
        bytes = found[:older_bytes] or return "what was there before has no line"
        "#{Units.bytes(bytes)} were there before and have no line"
      end

      def frames
        Accounting::LateStart::FRAMES
      end

      # why: a key of REASONS
      def fail_unanswered(why)
        fail_with("does not answer: #{REASONS.fetch(why)}")
      end

      def fail_with(reason, kind = Error)
        raise kind, "process #{title} #{reason}"
      end
    end
  end
end
