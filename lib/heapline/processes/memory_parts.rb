# frozen_string_literal: true

require_relative "../places/location"
require_relative "memory_map"

module Heapline
  module Processes
    # What each mapping of a Ruby process is for, told from outside: the kernel's names and flags, and what lies beside
    # it. Frozen. `[kind]` are the Parts of a kind, `bytes(kind)` what of them is resident; all kinds add up to RSS.
    #
    # heap::       glibc's main heap
    # arenas::     glibc's other arenas
    # stacks::     of threads and fibers
    # jit::        code made at run time
    # code::       files that are executed, with their data
    # heapline::   the flight file, heapline's tables, its libraries
    # other::      other files, shared memory, what the kernel maps
    # anonymous::  the rest: object heap pages, what the allocator maps, what a library maps for itself
    class MemoryParts
      KINDS = %i[heap arenas stacks jit code heapline other anonymous].freeze
      # A name that tells what it is, and its resident bytes. gaps: bytes that are not resident, in pieces, where it is
      # anonymous and an allocator's blocks may have them.
      Part = Struct.new(:name, :bytes, :gaps)

      ARENA = 64 * 1024 * 1024 # glibc reserves so much for each, at a multiple of it
      GUARD = 16 * MemoryMap::PAGE # what lies below a stack so that it cannot run over is not larger
      STACK = 8 * 1024 * 1024 # larger ones are taken for a stack and something else, joined by the kernel
      # Names of the kernel's, and of Ruby 4.0's where the kernel keeps them.
      NAMED = { /\A\[heap\]/ => :heap, /\A\[stack\]|\A\[anon:.*(fiber_pool|thread_stack)/ => :stacks,
                /\A\[anon:.*jit_reserve/ => :jit, /\A\[anon:.*(heap_page|malloc)/ => :anonymous, /\A\[/ => :other,
                %r{/(libheapline|heapline/native)\.so\z} => :heapline }.freeze
      # heapline reserves no swap for its memory and leaves it out of core dumps: no one else does both.
      OWN = %w[nr dd].freeze
      LARGE = 32 * 1024 * 1024 # anonymous mappings of at least so much are named "large"
      HEAP = "main heap"
      PAGES = "object heap"
      TRANSIENT = "Ruby's transient heap"
      # Ruby 4.0 maps so much for its shapes and writes the beginning; above them, where the kernel joins it with them,
      # 16 or 20 MiB for their list, likewise. Kernels that keep names say so.
      SHAPES = ((384 - 8) * 1024 * 1024)..(384 * 1024 * 1024)
      SHAPE_LIST = (8 * 1024 * 1024)..(21 * 1024 * 1024)
      GAP = 1024 * 1024
      TRANSIENT_BYTES = 32 * 1024 * 1024
      TRANSIENT_BLOCK = 32 * 1024
      # The kernel's mark on stacks (MAP_STACK, since Linux 6.7).
      MARK = "nh"
      # Of stacks whose guard is no mapping of its own (MADV_GUARD_INSTALL; glibc from 2.42 on, Linux from 6.13 on).
      GUARDED = ["gu", MARK].freeze

      # map: MemoryMap. glibc: is the allocator glibc's? Others have no arenas of that shape, and where they use the
      # heap, they count it among what they mapped.
      def initialize(map, glibc: true)
        @map = map
        @glibc = glibc
        @marked = map.any? { |mapping| guard?(mapping) && mapping.flagged?(MARK) }
        @executed = map.select(&:executable?).to_h { |mapping| [mapping.name, mapping] }
        @parts = KINDS.to_h { |kind| [kind, []] }
        @ends = {}
        @data_end = 0
        @large = []
        sort(map.to_a.dup)
        @parts.each_value(&:freeze).freeze
        freeze
      end

      def [](kind)
        @parts.fetch(kind)
      end

      # Resident bytes of a kind.
      def bytes(kind)
        self[kind].sum(&:bytes)
      end

      # What must be resident of an allocator that has so many bytes of addresses in the anonymous mappings: all but
      # their gaps, as far as these are not larger. elsewhere: so much of the gaps is known to be another's. The main
      # heap is the allocator's.
      def least_resident(space_bytes, elsewhere)
        heap, others = self[:anonymous].partition { |part| part.name == HEAP }
        space = space_bytes - heap.sum(&:bytes) - heap_gaps
        gaps = others.flat_map(&:gaps).select { |bytes| bytes <= space_bytes }
        shapes = gaps.index { |bytes| SHAPES.cover?(bytes) } unless @shapes_found
        gaps.delete_at(shapes) if shapes
        heap.sum(&:bytes) + [space + elsewhere - gaps.sum, 0].max
      end

      # Bytes of the main heap that are not resident, where the allocator is not glibc.
      def heap_gaps
        self[:anonymous].sum { |part| part.name == HEAP ? part.gaps.sum : 0 }
      end

      # Ruby 3.1 keeps the contents of young arrays in one mapping of 32 MiB, which the kernel may have joined with its
      # neighbours. The head of each of its blocks is written: the place where that may be and least is resident is
      # taken for it, as a Part. 0 bytes where there is none, or all is resident: then it is like any other memory.
      def transient_heap
        found = @large.filter_map { |mapping| least_written(mapping) }.min || TRANSIENT_BYTES
        return Part.new(TRANSIENT, 0, []) if found == TRANSIENT_BYTES

        Part.new(TRANSIENT, found, [TRANSIENT_BYTES - found])
      end

      private

      # glibc's blocks begin and end in pages that are written, so what is not resident at an end of a mapping is not
      # theirs. Other allocators also keep what they gave back. Where little is missing the pages are not asked for.
      def gaps(mapping, kind)
        absent = mapping.bytes - mapping.rss_bytes
        return [] if kind != :anonymous || absent.zero? || name_of(mapping, kind) == PAGES
        return [absent] unless @glibc

        pages = @map.pages(mapping.start, mapping.finish) if absent >= GAP
        return mapping.rss_bytes.zero? ? [] : [absent] unless pages

        runs = pages.slice_when { |one, next_one| one != next_one }
                    .map { |run| run.first.zero? ? run.size * MemoryMap::PAGE : nil }
        runs = without_shapes(runs)
        runs.drop(runs.first ? 1 : 0).then { |rest| rest.last ? rest[0..-2] : rest }.compact
      end

      # runs: bytes that are not resident, nil where they are, in their order. Shapes and their list beside each other
      # are Ruby's; what has the size of one alone may be a block.
      def without_shapes(runs)
        shapes = runs.index { |bytes| bytes && SHAPES.cover?(bytes) } or return runs
        list = (shapes + 1...runs.size).find { |index| runs[index] }
        return runs unless list && SHAPE_LIST.cover?(runs[list])

        @shapes_found = true
        runs.each_with_index.map { |bytes, index| bytes unless [shapes, list].include?(index) }
      end

      # Resident bytes of the place in the mapping that may be the transient heap; nil: there is none.
      def least_written(mapping)
        from = (mapping.start + TRANSIENT_BLOCK - 1) / TRANSIENT_BLOCK * TRANSIENT_BLOCK
        pages = @map.pages(from, mapping.finish)
        return (mapping.rss_bytes if mapping.bytes == TRANSIENT_BYTES) unless pages

        blocks = pages.each_slice(TRANSIENT_BLOCK / MemoryMap::PAGE).map { |block| block.sum if block.first == 1 }
        runs = blocks.slice_when { |one, next_one| one.nil? || next_one.nil? }
        runs.filter_map { |run| least_sum(run) if run.size >= TRANSIENT_BYTES / TRANSIENT_BLOCK }.min
      end

      # Of so many blocks in a row as the transient heap has: the least bytes.
      def least_sum(blocks)
        count = TRANSIENT_BYTES / TRANSIENT_BLOCK
        sum = blocks.first(count).sum
        sums = blocks.drop(count).zip(blocks).map { |fresh, gone| sum += fresh - gone }
        [blocks.first(count).sum, *sums].min * MemoryMap::PAGE
      end

      # `below` and `above` are the neighbours that a mapping touches, or nil.
      def sort(mappings)
        below = nil
        while (mapping = mappings.shift)
          below = nil if below && below.finish != mapping.start
          above = mappings.first if mappings.first&.start == mapping.finish
          mapping, rest = @map.split(mapping, edge(mapping, below, above) || mapping.finish)
          mappings.unshift(rest) if rest
          kind = kind_of(mapping, below, rest || above)
          @large << mapping if kind == :anonymous && mapping.bytes >= TRANSIENT_BYTES
          @parts[kind] << Part.new(name_of(mapping, kind), mapping.rss_bytes, gaps(mapping, kind)).freeze
          @data_end = data_end(mapping) if data?(mapping)
          below = mapping
        end
      end

      # Where a mapping becomes another thing, which the kernel joined with the first because both have the same access:
      # the address, or nil.
      def edge(mapping, below, above)
        return nil unless mapping.anonymous? && mapping.writable?

        arena = arena_start(mapping, above)
        return arena if arena && arena > mapping.start
        return @data_end if mapping.start < @data_end

        mapping.start + STACK if stack?(mapping, below) && !@marked
      end

      def kind_of(mapping, below, above)
        return :heapline if mapping.flagged?(*OWN)

        named = NAMED.find { |pattern, _| mapping.name.match?(pattern) }&.last
        return named == :heap && !@glibc ? :anonymous : named if named

        mapping.anonymous? ? anonymous_kind(mapping, below, above) : file_kind(mapping)
      end

      def file_kind(mapping)
        @executed.key?(mapping.name) ? :code : :other
      end

      def anonymous_kind(mapping, below, above)
        return :jit if mapping.executable?
        return :other unless mapping.writable?
        return :arenas if arena_start(mapping, above) == mapping.start
        return :stacks if stack?(mapping, below)

        mapping.finish <= @data_end ? :code : :anonymous
      end

      # The start of the glibc arena whose used part ends where `above`, the part still closed, begins; or nil.
      def arena_start(mapping, above)
        return nil unless @glibc && above&.closed?

        finish = (above.start / ARENA * ARENA) + ARENA
        start = finish - ARENA
        start if above.finish >= finish && start >= mapping.start && start < mapping.finish
      end

      def stack?(mapping, below)
        return true if mapping.flagged?(*GUARDED)
        return false unless below&.closed?

        @marked ? mapping.flagged?(MARK) : guard?(below)
      end

      def guard?(mapping)
        mapping.closed? && mapping.bytes <= GUARD
      end

      # May the zeroed data of a program or library begin behind this mapping? It is several mappings where the library
      # has the kernel treat some of it in another way.
      def data?(mapping)
        !mapping.name.empty? && mapping.writable? && @executed.key?(mapping.name)
      end

      # Where the memory of the file ends that this is a mapping of.
      def data_end(mapping)
        @ends[mapping.name] ||= begin
          first = @map.find { |one| one.name == mapping.name && one.offset.zero? }
          (first && @map.load_end(first)) || mapping.finish
        end
      end

      def name_of(mapping, kind)
        case kind
        when :heap then HEAP
        when :stacks then mapping.name == "[stack]" ? "main thread" : "other threads and fibers"
        when :heapline then own_name(mapping)
        when :anonymous then anonymous_name(mapping)
        else mapping.name.empty? ? kind.to_s : Places::BaseName.of(mapping.name).delete_suffix(" (deleted)")
        end
      end

      def anonymous_name(mapping)
        return HEAP if mapping.name == "[heap]"
        return PAGES if mapping.name.include?("heap_page")

        mapping.bytes >= LARGE ? "large" : "small"
      end

      def own_name(mapping)
        return "flight file" if mapping.access.end_with?("s")

        mapping.anonymous? ? "tables" : "libraries"
      end
    end
  end
end
