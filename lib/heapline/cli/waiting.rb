# frozen_string_literal: true

module Heapline
  module CLI
    # For commands that wait for the answer of a running process.
    module Waiting
      TIMEOUT = 10.0

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
        parser.on("--timeout S", Float, "wait so many seconds for its answer (#{format("%g", default_timeout)})") do |s|
          @options[:timeout] = s
        end
      end

      def say_waiting(entry)
        @err.puts "heapline: asked process #{entry.pid}; it answers at its next allocation"
      end
    end
  end
end
