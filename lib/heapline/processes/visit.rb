# frozen_string_literal: true

require_relative "../clock"
require_relative "../accounting/flight"

module Heapline
  # @api private
  module Processes
    # Has a process that waits in a system call look at what it is asked. One that does anything looks by itself; an
    # idle one is stopped for some microseconds, and comes to a safe point of Ruby's (visitor.h).
    class Visit
      # Seconds after which a process that has not answered is taken for idle, and between two visits.
      FIRST = 0.03
      AGAIN = 0.5
      # What the process found (enum hl_visit_found): where no safe point comes, another visit is of no use.
      ELSEWHERE = 2
      NO_VM = 4
      USELESS = [ELSEWHERE, NO_VM].freeze
      WHY = {
        stopped: "it is stopped; SIGCONT lets it go on",
        forbidden: "it is idle, and this user may not trace it (ptrace; see /proc/sys/kernel/yama/ptrace_scope, and " \
                   "whether a debugger is attached): it answers at its next allocation, or ask as root",
        no_door: "it is idle, and cannot be visited (another version of heapline, or another processor): it " \
                 "answers at its next allocation"
      }.freeze

      # entry: FlightDirectory::Entry of a living process.
      def initialize(entry)
        @entry = entry
        @due = Clock.now + FIRST
      end

      # To be called again and again while the answer is not there; visits when it is time to. Raises FlightError where
      # there is no flight file any more.
      def look
        return if Clock.now < @due

        @due = Clock.now + AGAIN
        visit unless USELESS.include?(@found)
      end

      # Why the process does not answer, as the last visit tells; nil: it does not.
      def why
        return WHY[@result] unless @result == :visited
        return "no Ruby runs jobs in it, yet or any more" if @found == NO_VM
        return unless @found == ELSEWHERE

        "its main thread waits in #{where}, not in Ruby: it answers when that returns"
      end

      private

      def visit
        before = state[:visits]
        @result = Accounting::Flight.visit(@entry)
        return unless @result == :visited

        limit = Clock.now + FIRST
        sleep 0.001 while state[:visits] == before && Clock.now < limit
        @found = @state[:found]
        @where = @state[:where]
      end

      def state
        @state = Accounting::Flight.header(@entry.path)[:visit]
      end

      def where
        @where.empty? ? "native code" : File.basename(@where)
      end
    end
  end
end
