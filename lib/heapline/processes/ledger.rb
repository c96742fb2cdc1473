# frozen_string_literal: true

require_relative "../accounting/own_figures"
require_relative "malloc_memory"
require_relative "memory_map"
require_relative "memory_parts"

module Heapline
  module Processes
    # Where the resident memory (RSS) of a process is: lines that add up to it, each with its parts. Frozen.
    #
    #   object heap   pages of the heap, by the VM's count
    #   malloc        what the allocator holds resident = live by Ruby lines + live by native code + heapline's records
    #                 on the blocks + blocks from before the counting (after a late start) + held. Live here is what is
    #                 resident of it: what malloc gave out and the program has not touched is in no line, but in
    #                 `untouched_bytes`.
    #   JIT           code by the kernel's map, and what lives in malloc of the compiler's own
    #   the others    by the kernel's map
    #   remainder     anonymous memory that no one claims
    class Ledger
      # bytes of a line are the sum of its parts', where it has any.
      Line = Struct.new(:key, :name, :bytes, :parts, keyword_init: true)

      NAMES = {
        objects_live: "Ruby objects", objects_free: "free object slots", malloc_ruby: "malloc live by Ruby lines",
        malloc_native: "malloc live by native code", malloc_older: "malloc from before counting",
        malloc_held: "malloc freed but held",
        heapline: "heapline itself", stacks: "thread and fiber stacks", jit: "JIT",
        code: "programs and libraries", other: "other mappings", remainder: "of unknown use"
      }.freeze
      # returnable_bytes: Range of what trimming could give back, nil where the allocator was not asked.
      # untouched_bytes: of live blocks that are not resident, at least so much; transient_bytes: of these, Ruby's own
      # in its transient heap.
      attr_reader :rss_bytes, :lines, :figures, :returnable_bytes, :untouched_bytes, :transient_bytes

      # Of the process that `snapshot` is of, as it is now; nil where it is gone or another user's. alive: does it exist
      # still? (At its end it says that it has exited, and does.) drill: parts of the live lines too, by gem and
      # library, which takes a moment.
      def self.read(snapshot, alive: snapshot.state == :running, drill: false)
        map = MemoryMap.read(snapshot.pid) if alive
        map && new(snapshot, map, drill: drill)
      end

      # map: MemoryMap of the process.
      def initialize(snapshot, map, drill: false)
        @rss_bytes = map.rss_bytes
        @figures = (snapshot.figures || Accounting::OwnFigures::NONE).recent(snapshot.taken_at)
        glibc = snapshot.allocator.to_s.start_with?("glibc")
        amounts = amounts(snapshot, MemoryParts.new(map, glibc: glibc), drill)
        @lines = NAMES.map { |key, name| line(key, name, amounts.fetch(key)) }.freeze
        freeze
      end

      # Bytes of each line, by key.
      def to_h
        lines.to_h { |line| [line.key, line.bytes] }
      end

      # The line of that key.
      def [](key)
        lines.find { |line| line.key == key }
      end

      private

      # Hash of the lines' keys; each a Hash of name => bytes.
      def amounts(snapshot, parts, drill)
        objects = objects(parts.bytes(:anonymous))
        rest = parts.bytes(:anonymous) - objects.sum { |_, amount| amount.values.sum }
        young = young_arrays(snapshot, parts, rest)
        malloc = MallocMemory.new(@figures, parts, snapshot, rest - young.bytes,
                                  elsewhere: young.gaps.sum, drill: drill)
        @returnable_bytes = malloc.returnable
        @untouched_bytes = malloc.untouched
        @transient_bytes = malloc.transient
        others = %i[stacks jit code other heapline].to_h { |kind| [kind, mapped(parts[kind])] }
        others[:other][young.name] = young.bytes
        others[:heapline].update(malloc.records)
        others[:jit].update(malloc.jit.transform_keys { |name| "malloc #{name}" })
        others.merge(objects, malloc_ruby: malloc.ruby, malloc_native: malloc.native, malloc_older: malloc.older,
                              malloc_held: malloc.held,
                              remainder: { "anonymous memory" => malloc.unclaimed,
                                           "large blocks of malloc" => malloc.shared })
      end

      # The object heap's pages are anonymous memory; what of them is swapped out is not there to be counted.
      def objects(anonymous)
        heap = [@figures.heap_bytes || 0, anonymous].min
        live = [@figures.live_slot_bytes || 0, heap].min
        { objects_live: { "live slots" => live }, objects_free: { "free slots, page headers" => heap - live } }
      end

      # Ruby 3.1 has its transient heap in a mapping of its own (in 3.2 malloc has it): of the rest at most so much.
      def young_arrays(snapshot, parts, rest)
        found = parts.transient_heap if snapshot.ruby.to_s.start_with?("ruby 3.1.")
        found && found.bytes <= rest ? found : MemoryParts::Part.new(MemoryParts::TRANSIENT, 0, [])
      end

      def line(key, name, amounts)
        parts = amounts.reject { |_, bytes| bytes.zero? }.sort_by { |part, bytes| [-bytes, part] }
        parts = parts.map { |part, bytes| Line.new(key: part, name: part, bytes: bytes, parts: [].freeze).freeze }
        Line.new(key: key, name: name, bytes: amounts.values.sum, parts: parts.freeze).freeze
      end

      def mapped(parts)
        parts.group_by(&:name).transform_values { |same| same.sum(&:bytes) }
      end
    end
  end
end
