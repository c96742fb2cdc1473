# frozen_string_literal: true

require_relative "../places/location"

module Heapline
  module Processes
    # The resident memory of the allocator, divided: what lives, heapline's records on the blocks, and what is held,
    # which is the rest. Frozen; each figure is a Hash of name => bytes, none of them below 0.
    #
    # Live bytes are what was given out; where the program has not touched them they are not resident. No one tells
    # which blocks those are, but they are large: the end of each block is written. So a kind of lines has at least what
    # it has without its large blocks, and what the other kinds' large blocks cannot have; what remains is `shared`. And
    # of anonymous memory the allocator has at least its addresses less all that is not resident.
    class MallocMemory
      # heapline keeps a record of so many bytes on each live block.
      RECORD = 8
      # Ruby 3.2 asks malloc at its start for so much at once, where young arrays keep their contents. (3.1 maps it,
      # later Rubies have none.)
      TRANSIENT_HEAP = 32 * 1024 * 1024

      # What is live, where no gems and libraries are named.
      ALL = "live"
      # Where all that lives is of sites that were not read.
      OTHERS = Places::Location.new(special: "(other sites)")

      # ruby, jit, native: what is resident of live blocks, at least; shared: of large ones, whose is not known.
      # untouched: bytes of live blocks that are not, at least so many. transient: of these, the transient heap's.
      # records: heapline's. older: blocks from before the counting. held: see `held_parts`. unclaimed: bytes of
      # anonymous memory that are not surely the allocator's either.
      # returnable: what trimming could give back, a Range of bytes, or nil. Free pages that are not resident give
      # nothing; what is not resident may be of live blocks instead: hence the least and the most.
      attr_reader :ruby, :jit, :native, :shared, :records, :untouched, :transient, :older, :held, :unclaimed,
                  :returnable

      # anonymous_bytes: resident anonymous memory that is not known to be anything else; elsewhere: bytes of anonymous
      # memory that are not resident and not the allocator's. drill: name gems, libraries.
      def initialize(figures, parts, snapshot, anonymous_bytes, elsewhere: 0, drill: false)
        @figures = figures
        @system = figures.arenas.sum(&:system_bytes)
        @mapped = snapshot.allocator.to_s.start_with?("glibc") ? figures.resident_bytes : nil
        heap = parts.bytes(:heap) + parts.bytes(:arenas)
        most = [figures.resident_bytes || anonymous_bytes, anonymous_bytes].min
        divide(snapshot, drill)
        claimed = surely_resident(most, parts, elsewhere)
        @resident = heap + claimed
        leave_out_untouched(most, heap, snapshot.ruby.to_s.start_with?("ruby 3.2."))
        @unclaimed = anonymous_bytes - claimed
        @returnable = returnable_range(parts)
        beyond = @resident - live_bytes - @shared - sum(@records)
        @older = { ALL => older_live(snapshot).clamp(0, [beyond, 0].max) }
        @held = held_parts(beyond - sum(@older))
        freeze
      end

      private

      def divide(snapshot, drill)
        lines, rest = (drill ? all_sites(snapshot) : snapshot.kinds || snapshot).partition { |site| site.kind == :ruby }
        jits, rest = rest.partition { |site| site.location.jit? }
        rest += [snapshot.quiet].compact
        @jit = live(jits, drill) { |site| site.location.special }
        @ruby = live(lines, drill) do |site|
          site.location.gem || site.location.special || Accounting::Snapshot::UNNAMED[:gem]
        end
        @native = live(rest, drill) { |site| site.location.library || site.location.special || "ruby" }
        @records = { "records on live blocks" => [snapshot.live_blocks, 0].max * RECORD }
      end

      # What was there before a late start and was not freed since; 0 where the allocator does not tell.
      def older_live(snapshot)
        older = snapshot.older
        older&.bytes ? older.bytes - older.bytes_freed : 0
      end

      def live(sites, drill, &)
        return { ALL => sites.sum(&:live_bytes) } unless drill

        sites.group_by(&).transform_values { |same| same.sum(&:live_bytes) }
      end

      # The sites, and what lives of those that were not read, as one of each kind.
      def all_sites(snapshot)
        return snapshot.sites unless snapshot.row_count

        shown = snapshot.sites.group_by { |site| nature(site) }.transform_values { |same| same.sum(&:live_bytes) }
        others = snapshot.kinds.map do |kind|
          place = kind.location.jit? ? kind.location : OTHERS
          Accounting::Site.new(**kind.to_h, location: place,
                                            live_bytes: kind.live_bytes - shown.fetch(nature(kind), 0))
        end
        snapshot.sites + others
      end

      def nature(site)
        return :ruby if site.kind == :ruby

        site.location.jit? ? :jit : :native
      end

      # Of at most so many bytes of anonymous memory, those that must be the allocator's. Where it is not glibc, small
      # blocks lie there too.
      def surely_resident(most, parts, elsewhere)
        return most unless (space = @figures.space_bytes)

        small = @mapped ? 0 : live_bytes + sum(@records) - (@figures.large_bytes || 0)
        [parts.least_resident(space, elsewhere), small].max.clamp(0, most)
      end

      # Live bytes that are not resident, where so much of anonymous memory is the allocator's: of glibc's blocks in
      # mappings of their own what is more, and what lives beyond all that is resident.
      def not_resident(claimed, heap)
        live = live_bytes
        ((@mapped || claimed) - claimed).clamp([live + sum(@records) - heap - claimed, 0].max, live)
      end

      def leave_out_untouched(most, heap, transient_heap)
        @records = cut(@records, @resident)
        @untouched = not_resident(most, heap)
        absent = not_resident(@resident - heap, heap)
        @transient = transient_heap ? leave_out_transient_heap(absent) : 0
        share_out(absent - @transient)
        @transient = [@transient, @untouched].min
      end

      # Of live blocks so many bytes are not resident: of large ones, as far as there are any, else in proportion.
      def share_out(absent)
        all = [sum(@ruby), sum(@jit) + sum(@native)]
        large = large_blocks.zip(all).map(&:min)
        in_large = [absent, large.sum].min
        least = all.zip(large).map { |bytes, of_large| bytes - [of_large, in_large].min }
        @shared = live_bytes - in_large - least.sum
        touched = least.sum + in_large - absent
        ruby = least.first * touched / [least.sum, 1].max
        keep(ruby, touched - ruby)
      end

      # Bytes of large live blocks by Ruby lines, and by others without the transient heap.
      def large_blocks
        ruby = @figures.large_ruby_bytes || 0
        [ruby, [(@figures.large_bytes || 0) - ruby - @transient, 0].max]
      end

      # So many bytes by Ruby lines, and by others.
      def keep(ruby, others)
        @ruby = cut(@ruby, ruby)
        jit = sum(@jit) * others / [sum(@jit) + sum(@native), 1].max
        @jit = cut(@jit, jit)
        @native = cut(@native, others - jit)
      end

      # Returns how many bytes of `absent` those are.
      def leave_out_transient_heap(absent)
        name = @native.keys.find { |library| library == ALL || of_vm?(library) }
        bytes = [absent, TRANSIENT_HEAP, @native[name] || 0].min
        @native = @native.merge(name => @native[name] - bytes) if bytes.positive?
        bytes
      end

      def of_vm?(library)
        Places::GemName.of_library("/#{library}") == Places::GemName::CORE
      end

      def live_bytes
        sum(@ruby) + sum(@jit) + sum(@native)
      end

      # The amounts in the same proportion, so that their sum is at most `most`; the first takes what rounding leaves.
      def cut(amounts, most)
        all = sum(amounts)
        return amounts if all <= most

        cut = amounts.transform_values { |bytes| bytes * most / all }
        cut.merge(cut.keys.first => cut.values.first + most - sum(cut))
      end

      # What the allocator holds beyond live blocks: freed and kept, its own, rounding. What is free and was given back
      # to the kernel is not among it: of the parts that it tells, so much as is resident.
      def held_parts(held)
        return { "held" => held } unless @figures.free_bytes && @figures.resident_bytes

        told = cut(free.merge("the allocator's own" => @figures.metadata_bytes || 0), held)
        told.merge("headers, rounding, small caches" => held - sum(told))
      end

      # What is free and not resident gives nothing back: of glibc's arenas, of the heap that tcmalloc has with its own
      # tables in it, or of all that an allocator takes for resident.
      def returnable_range(parts)
        most = @figures.returnable_bytes or return nil
        absent = [0, @system - parts.bytes(:heap) - parts.bytes(:arenas)] if @mapped
        absent ||= [parts.heap_gaps, (@figures.resident_bytes || 0) - @resident]
        ([most - absent.max, 0].max..most)
      end

      def free
        return { "free" => @figures.free_bytes } if @figures.arenas.size <= 1

        first, *others = @figures.arenas.map(&:free_bytes)
        { "free in the main arena" => first,
          "free in #{others.size} other arena#{"s" if others.size > 1}" => others.sum }
      end

      def sum(amounts)
        amounts.sum { |_, bytes| bytes }
      end
    end
  end
end
