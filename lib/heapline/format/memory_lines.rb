# frozen_string_literal: true

require_relative "terminal"
require_relative "units"
require_relative "wrap"

module Heapline
  module Format
    # The lines that say where the memory is: RSS as a sum, and the totals of malloc.
    class MemoryLines
      # Each block carries a record of this many bytes at its end.
      TRAILER = 8

      # The lines of a ledger in short; what is less than this part of RSS is summed up.
      NAMES = { objects_live: "Ruby objects", objects_free: "free object slots", malloc_ruby: "malloc by Ruby lines",
                malloc_native: "malloc by native code", malloc_held: "malloc freed but held",
                heapline: "heapline's own", stacks: "stacks", jit: "JIT code", code: "programs and libraries",
                other: "other mappings", remainder: "remainder" }.freeze
      LEAST = 0.01

      # memory: Model::ProcessMemory, or nil where the process is gone. ledger: Model::Ledger or nil.
      def initialize(snapshot, memory, terminal, ledger: nil)
        @snapshot = snapshot
        @ledger = ledger
        @memory = memory
        @terminal = terminal
      end

      def lines
        [rss, totals, growth].compact.flat_map do |parts|
          Wrap.parts(parts.compact, @terminal).map { |line| "  #{line}" }
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
        ["RSS #{Units.bytes(@ledger.rss_bytes)} = #{first}", *others]
      end

      def name(line)
        return "malloc not touched" if line.key == :malloc_held && line.bytes.negative?
        return "remainder with the object heap" if line.key == :remainder && !@ledger.figures.objects_at

        NAMES.fetch(line.key)
      end

      def without_ledger
        live = @snapshot.live_bytes
        return ["malloc live #{Units.bytes(live)}", "heapline's own #{Units.bytes(own)}", gone] unless @memory

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
         temporary, generations]
      end

      def peak
        return nil unless @snapshot.peak_bytes

        at = @snapshot.peak_at && @snapshot.started_at && (@snapshot.peak_at - @snapshot.started_at)
        "peak #{Units.bytes(@snapshot.peak_bytes)}#{" at #{Units.duration([at, 0].max)}" if at}"
      end

      def temporary
        return nil if @snapshot.allocations.zero?

        "#{(100.0 * @snapshot.temporary / @snapshot.allocations).round} % temporary"
      end

      def generations
        "#{Units.count(@snapshot.gc_count)} GCs" if @snapshot.gc_count
      end

      # Growth is counted from the baseline: said where that is not the start.
      def growth
        return nil if [nil, :start].include?(@snapshot.baseline_kind)

        since = @snapshot.baseline_kind == :fork ? "the fork from #{@snapshot.forked_from}" : "the baseline"
        at = @snapshot.baseline_at ? " at #{@snapshot.baseline_at.strftime("%H:%M:%S")}" : ""
        ["since #{since}#{at}: growth #{Units.bytes(@snapshot.growth_bytes)}",
         "allocated since and still live #{Units.bytes(@snapshot.retained_bytes)}"]
      end
    end
  end
end
