# frozen_string_literal: true

require_relative "../errors"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../command/base"
require_relative "../figures/typed"
require_relative "takeover"

module Heapline
  module Processes
    # For commands about a running process: from its PID as it was typed to its flight file, and how long they wait for
    # its answer.
    module RunningProcess
      TIMEOUT = 10.0

      # FlightDirectory::Entry. Raises UsageError where `words` are not one PID, FlightError where there is no such
      # process, Error where no Ruby runs in it, or counting has ended. `dead` is what a dead one cannot give; ruby:
      # does Ruby's VM answer? answers: does it have to?
      def self.find(words, env, dead:, ruby: false, answers: true)
        pid = Command.pid(words)
        entry = Accounting::FlightDirectory.new(env).fetch(pid)
        unless entry.alive?
          raise FlightError, "process #{pid} is dead: #{dead}; what it held last: heapline report #{pid}"
        end

        Takeover.await([entry])
        header = Accounting::Flight.header(entry.path)
        check_ruby(entry, header) if ruby
        check_counted(entry, header) if answers
        entry
      end

      # Who does not count does not look for what is asked.
      def self.check_counted(entry, header)
        return if header[:stopped_ns].zero?

        pid = entry.pid
        raise Error, "counting has ended in process #{pid}, and nothing in it answers: heapline attach #{pid} begins " \
                     "it again; what it held then: heapline report #{pid}"
      end
      private_class_method :check_counted

      # header: of Flight.header. The core notes the allocator when it has looked for Ruby.
      def self.without_ruby?(header)
        header[:ruby].empty? && !header[:allocator].empty?
      end

      def self.check_ruby(entry, header)
        return unless without_ruby?(header)

        raise Error, "no Ruby runs in process #{entry.pid}, and only Ruby can answer this; report, top, rss, " \
                     "baseline, record, leaks and trim need no Ruby"
      end
      private_class_method :check_ruby

      private

      # Overridden by commands that wait for less.
      def default_timeout
        TIMEOUT
      end

      # Seconds.
      def timeout
        @options.fetch(:timeout, default_timeout)
      end

      def define_timeout(parser)
        parser.on("--timeout S", "wait S seconds for its answer (#{format("%g", default_timeout)})") do |value|
          @options[:timeout] = Figures::Typed.seconds(value, zero: true)
        end
      end

      # why: what keeps it from answering, where that is known (Visit#why).
      def say_waiting(entry, why)
        @err.puts "heapline: asked process #{entry.pid}; #{why || "it answers at its next allocation"}"
      end
    end
  end
end
