# frozen_string_literal: true

require_relative "counts"

module Heapline
  module GrowthLog
    # What is remembered of one process from line to line, and which sites a line lists.
    #
    # A site that was listed once stays listed, so that its series has no hole. At most 4 × top sites are; beyond that
    # those leave first that rank nowhere now and live the least.
    class Account
      KEEP = 4

      # The number of the next line, and when the last one was written (seconds of the steady clock), or nil.
      attr_reader :seq, :written_at

      # top: so many sites by growth, by live bytes and by allocation rate. forked: the process began with the counts
      # of another one.
      def initialize(top:, forked:)
        @top = top
        @forked = forked
        @last = Counts::NONE
        @now = @inherited = nil
        @listed = []
        @seq = 0
      end

      # Take the counts of now. Returns the numbers of the sites to list.
      def look(counts)
        @now = counts
        # What lived at the fork, before any later baseline hides it.
        @inherited ||= counts if @forked
        @listed = choose
      end

      # Bytes live now less those live at the start, or at the fork, of the process; whatever baselines came since.
      def growth_bytes(number)
        @now.live_bytes(number) - (@inherited ? @inherited.base_bytes(number) : 0)
      end

      # Change of live bytes since the last line; since the start, or the fork, on the first.
      def delta_bytes(number)
        @written_at ? @now.live_bytes(number) - @last.live_bytes(number) : growth_bytes(number)
      end

      # Bytes allocated since the last line, or nil on the first.
      def allocated_bytes(number)
        @now.bytes_allocated(number) - @last.bytes_allocated(number) if @written_at
      end

      def totals
        @now.totals.merge(growth_bytes: @now.numbers.sum { |number| growth_bytes(number) })
      end

      # The line was written at `time`: the next one compares with it. A line that was dropped changes nothing.
      def written(time)
        @last = @now
        @written_at = time
        @seq += 1
      end

      private

      def choose
        ranked = leading { |number| growth_bytes(number) } | leading { |number| @now.live_bytes(number) } |
                 leading { |number| @now.bytes_allocated(number) - @last.bytes_allocated(number) }
        others = (@listed - ranked).max_by([(KEEP * @top) - ranked.size, 0].max) { |number| @now.live_bytes(number) }
        ranked + others
      end

      def leading(&figure)
        @now.numbers.max_by(@top, &figure).select { |number| figure.call(number).positive? }
      end
    end
  end
end
