# frozen_string_literal: true

require_relative "../terminal/output"
require_relative "../figures/units"

module Heapline
  module Accounting
    # The lines that say where the memory is: RSS as a sum, and the totals of malloc.
    class MemoryLines
      # Each block carries a record of this many bytes at its end.
      TRAILER = 8

      # From where growth counts, by Snapshot#baseline_kind; :start is not there.
      SINCE = { fork: "the fork", clear: "the baseline", each: "each one's baseline, fork or start" }.freeze

      # The lines of a ledger in short; what is less than this part of RSS is summed up.
      NAMES = { objects_live: "Ruby objects", objects_free: "free object slots", malloc_ruby: "malloc by Ruby lines",
                malloc_native: "malloc by native code", malloc_older: "malloc from before",
                malloc_held: "malloc freed but held",
                heapline: "heapline's own", stacks: "stacks", jit: "JIT", code: "programs and libraries",
                other: "other mappings", remainder: "of unknown use" }.freeze
      LEAST = 0.01
      # What the process allocated while it was read is said from this part of its live bytes on.
      MOVED = 0.01
      # glibc gives blocks from this size on mappings of their own.
      LARGE = 128 * 1024

      # memory: Processes::ProcessMemory, or nil where the process is gone. ledger: Processes::Ledger or nil.
      def initialize(snapshot, memory, terminal, ledger: nil)
        @snapshot = snapshot
        @ledger = ledger
        @memory = memory
        @terminal = terminal
      end

      def lines
        [rss, totals, growth].compact.flat_map do |parts|
          @terminal.wrap(parts.compact).map { |line| "  #{line}" }
        end
      end

      # The larger lines of the ledger, the largest first, and the rest.
      def shares
        least = @ledger.rss_bytes * LEAST
        large, small = @ledger.lines.partition { |line| line.bytes.abs >= least }
        parts = large.sort_by { |line| -line.bytes }.map { |line| "#{name(line)} #{Units.bytes(line.bytes)}" }
        rest = small.sum(&:bytes)
        rest.zero? ? parts : [*parts, "rest #{Units.bytes(rest)}"]
      end

      private

      def rss
        @ledger ? ledger : without_ledger
      end

      def ledger
        first, *others = shares
        ["RSS #{Units.bytes(@ledger.rss_bytes)} = #{first}", *others, *untouched]
      end

      def untouched
        bytes = @ledger.untouched_bytes
        return nil if bytes < @ledger.rss_bytes * LEAST

        whose = @ledger.transient_bytes > bytes / 2 ? ", most of it in Ruby's transient heap" : largest
        "not in RSS: #{Units.bytes(bytes)} that malloc gave out and the program has not touched#{whose}"
      end

      # Pages of large blocks are there only once they are touched; of small ones some other block touched them.
      def largest
        site = @snapshot.select { |one| one.live_blocks.positive? && one.live_bytes / one.live_blocks >= LARGE }
                        .max_by(&:live_bytes)
        return unless site

        ", in large blocks as of #{@terminal.inert(site.location.to_s)} (#{Units.bytes(site.live_bytes)})"
      end

      def name(line)
        return "of unknown use, with the object heap" if line.key == :remainder && objects_unknown?

        NAMES.fetch(line.key)
      end

      def objects_unknown?
        @snapshot.ruby? && !@ledger.figures.objects_at
      end

      def without_ledger
        live = @snapshot.live_bytes
        unless @memory
          return ["malloc live #{Units.bytes(live)}", "heapline's own #{Units.bytes(own)}",
                  gone]
        end

        rest = @memory.rss_bytes - live - own
        parts = ["RSS #{Units.bytes(@memory.rss_bytes)} = malloc live #{Units.bytes(live)}",
                 "heapline's own #{Units.bytes(own)}"]
        parts << (rest.negative? ? "of these #{Units.bytes(-rest)} not resident" : other(rest))
      end

      def gone
        "RSS no longer known" unless @snapshot.state == :running
      end

      def other(rest)
        "other #{Units.bytes(rest)} (object heap, code, stacks, freed but held)"
      end

      # Caches and tables, the flight file, and the record at the end of each live block.
      def own
        (@snapshot.own_bytes || 0) + (@snapshot.flight_bytes || 0) + ([@snapshot.live_blocks, 0].max * TRAILER)
      end

      def totals
        ["allocated #{Units.bytes(@snapshot.bytes_allocated)} in #{Units.count(@snapshot.allocations)} calls", peak,
         temporary, generations, moved]
      end

      # A process that allocates is read at one instant, as near as that can be.
      def moved
        return nil if @snapshot.moved_bytes <= @snapshot.live_bytes * MOVED

        "read while it allocated: bytes may be off by #{Units.bytes(@snapshot.moved_bytes)}"
      end

      def peak
        return nil unless @snapshot.peak_bytes

        at = @snapshot.peak_after
        "peak #{Units.bytes(@snapshot.peak_bytes)}#{" at #{Units.duration(at)}" if at}"
      end

      def temporary
        percent = @snapshot.temporary_percent
        "#{percent} % temporary" if percent
      end

      def generations
        "#{Units.count(@snapshot.gc_count)} GCs" if @snapshot.gc_count
      end

      # Growth is counted from the baseline: said where that is not the start.
      def growth
        return nil if [nil, :start].include?(@snapshot.baseline_kind)

        kind = @snapshot.baseline_kind
        since = "#{SINCE.fetch(kind)}#{" from #{@snapshot.forked_from}" if kind == :fork}"
        at = @snapshot.baseline_at ? " at #{@snapshot.baseline_at.strftime("%H:%M:%S")}" : ""
        ["since #{since}#{at}: growth #{Units.bytes(@snapshot.growth_bytes)}",
         "allocated since and still live #{Units.bytes(@snapshot.retained_bytes)}"]
      end
    end
  end
end
