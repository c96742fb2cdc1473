# frozen_string_literal: true

require_relative "../clock"
require_relative "../errors"
require_relative "../accounting/flight"
require_relative "visit"

module Heapline
  # @api private
  module Processes
    # A forked child takes over what it inherited when it has run for a while, or somebody looks at it: its file cannot
    # be read before. Whoever reads its header has asked it to, and it does at its next allocation; one that waits in a
    # system call is visited.
    class Takeover
      TIMEOUT = 2.0

      # Wait until these processes (FlightDirectory::Entry) have, as far as they do. Returns them.
      def self.await(entries)
        takeover = new
        waiting = entries.select { |entry| rests?(entry) }
        limit = Clock.now + TIMEOUT
        until waiting.empty? || Clock.now > limit
          waiting.each { |entry| takeover.look(entry) }
          sleep 0.001
          waiting.select! { |entry| rests?(entry) }
        end
        entries
      end

      # Has it not yet?
      def self.rests?(entry)
        Accounting::Flight.header(entry.path)[:state] == :forked
      rescue FlightError
        false # who reads it says why
      end

      def initialize
        @visits = {}
      end

      # To be called again and again of a process that has not: visits it when it is time to.
      def look(entry)
        (@visits[entry.path] ||= Visit.new(entry)).look
      rescue FlightError
        nil
      end
    end
  end
end
