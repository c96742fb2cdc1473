# frozen_string_literal: true

require_relative "../errors"

module Heapline
  class Capture
    # Which blocks of a capture are counted, in the numbers that the reader takes.
    #
    # from, to::   seconds since the recording began: born from then on, and before; nothing later is read
    # thread::     name of a thread, or its number as the kernel counts
    # tag::        as Heapline.tag was given it
    # lifespan::   Range of GC generations from birth to end; in_seconds: of seconds
    # mappings::   those of mmap in place of malloc's
    class Choice
      ENDLESS = (1 << 64) - 1

      def initialize(from: nil, to: nil, thread: nil, tag: nil, lifespan: nil, in_seconds: false, mappings: false)
        @from = from
        @to = to
        @thread = thread
        @tag = tag
        @lifespan = lifespan
        @in_seconds = in_seconds
        @mappings = mappings
        freeze
      end

      # What Native::Capture#analyse takes. Raises Error where the capture has no such thread or tag.
      def arguments(native)
        [nanoseconds(@from), nanoseconds(@to), threads(native), tags(native), lifespan, @mappings]
      end

      private

      def nanoseconds(seconds)
        seconds && (seconds * 1_000_000_000).round
      end

      def threads(native)
        return nil unless @thread

        rows = native.threads
        found = rows.each_index.select { |i| rows[i].first == @thread || rows[i].last.to_s == @thread.to_s }
        raise Error, "no thread #{@thread} in the capture; there are #{listed(rows.map { |row| row.compact.first })}" if
          found.empty?

        found.map { |i| i + 1 }
      end

      def tags(native)
        return nil unless @tag

        found = native.tags.index(@tag.to_s) or
          raise Error, "no tag #{@tag} in the capture; there are #{listed(native.tags)}"
        [found + 1]
      end

      def listed(names)
        names = names.uniq
        names.empty? ? "none" : [*names.first(10), *("…" if names.size > 10)].join(", ")
      end

      def lifespan
        return nil unless @lifespan

        low = @lifespan.begin || 0
        high = @lifespan.end
        factor = @in_seconds ? 1000 : 1
        [(low * factor).ceil, high ? (high * factor).floor : ENDLESS, @in_seconds]
      end
    end
  end
end
