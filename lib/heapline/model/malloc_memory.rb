# frozen_string_literal: true

module Heapline
  module Model
    # The resident memory of the allocator, divided: what lives, heapline's records on the blocks, and what is held,
    # which is the rest. Frozen; each figure is a Hash of name => bytes.
    class MallocMemory
      # heapline keeps a record of so many bytes on each live block.
      RECORD = 8

      # ruby, native: live blocks, requested bytes. records: heapline's. held: see `held_parts`. unclaimed: bytes of
      # anonymous memory that are not the allocator's either.
      # returnable: what trimming could give back, a Range of bytes, or nil. Free pages that are not resident give
      # nothing; what is not resident may be of live blocks instead: hence the least and the most.
      attr_reader :ruby, :native, :records, :held, :unclaimed, :returnable

      # anonymous_bytes: resident anonymous memory that is not known to be anything else. drill: name gems, libraries.
      def initialize(figures, parts, snapshot, anonymous_bytes, drill: false)
        @figures = figures
        @system = figures.arenas.sum(&:system_bytes)
        claimed = [figures.resident_bytes || anonymous_bytes, anonymous_bytes].min
        @resident = parts.bytes(:heap) + parts.bytes(:arenas) + claimed
        divide(snapshot, drill)
        @unclaimed = anonymous_bytes - claimed
        @returnable = returnable_range
        @held = held_parts(@resident - sum(@ruby) - sum(@native) - sum(@records))
        freeze
      end

      private

      def divide(snapshot, drill)
        lines, rest = snapshot.partition { |site| site.kind == :ruby }
        rest += [snapshot.quiet].compact
        @ruby = live(lines, drill) { |site| site.location.gem || Snapshot::UNNAMED[:gem] }
        @native = live(rest, drill) { |site| site.location.library || site.location.special || "ruby" }
        @records = { "records on live blocks" => [snapshot.live_blocks, 0].max * RECORD }
      end

      def live(sites, drill, &)
        return { "live" => sites.sum(&:live_bytes) } unless drill

        sites.group_by(&).transform_values { |same| same.sum(&:live_bytes) }
      end

      # What the allocator holds beyond live blocks: freed and kept, its own, rounding; less what lives or is free there
      # and is not resident, since nobody touched it or it was given back.
      def held_parts(held)
        return { "held" => held } unless @figures.free_bytes && @figures.resident_bytes

        all = @system + @figures.resident_bytes
        own = @figures.metadata_bytes || 0
        rounding = all - @figures.free_bytes - own - (@resident - held)
        free.merge("headers, rounding, small caches" => rounding, "the allocator's own" => own,
                   "of malloc not resident" => @resident - all)
      end

      def returnable_range
        most = @figures.returnable_bytes or return nil
        absent = @system + (@figures.resident_bytes || 0) - @resident
        ([most - [absent, 0].max, 0].max..most)
      end

      def free
        return { "free" => @figures.free_bytes } if @figures.arenas.size <= 1

        first, *others = @figures.arenas.map(&:free_bytes)
        { "free in the main arena" => first, "free in #{others.size} other arenas" => others.sum }
      end

      def sum(amounts)
        amounts.sum { |_, bytes| bytes }
      end
    end
  end
end
