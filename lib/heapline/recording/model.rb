# frozen_string_literal: true

require_relative "../frozen"
require_relative "../places/location"

module Heapline
  class Recording
    # What chosen blocks come to. Bytes are requested bytes; a realloc ends one block and begins another.
    #
    # allocations, bytes_allocated::     all that were born
    # peak_blocks, peak_bytes::          of these live at the moment when most bytes were live
    # live_blocks, live_bytes::          of these live at the end
    # temporary_blocks, temporary_bytes:: of these freed in the GC generation of their birth or in the next one
    # frees, bytes_freed::               all that ended there: these alone are of who freed, not of who allocated
    # @api public
    Sums = Struct.new(:allocations, :bytes_allocated, :peak_blocks, :peak_bytes, :live_blocks, :live_bytes,
                      :temporary_blocks, :temporary_bytes, :frees, :bytes_freed, keyword_init: true) do
      include Frozen

      # Of the ten numbers in their order.
      def self.of(numbers)
        new(**members.zip(numbers).to_h)
      end

      def +(other)
        self.class.of(to_a.zip(other.to_a).map(&:sum))
      end

      def -(other)
        self.class.of(to_a.zip(other.to_a).map { |a, b| a - b })
      end
    end

    # Blocks whose allocation has something in common: a line, a gem, a thread …
    #
    # key::    what it is called
    # label::  of a line its method, else nil
    # sums::   Sums
    # @api public
    Group = Struct.new(:key, :label, :sums, keyword_init: true) do
      include Frozen
    end

    # What one line, gem, stack … came to in two recordings.
    #
    # key::            what it is called, as in the second one where it is there; of stacks Array of Frame, the
    #                  outermost first
    # label::          of a line its method, else nil
    # before, after::  Sums, nothing but zeros where there is none
    # @api public
    Change = Struct.new(:key, :label, :before, :after, keyword_init: true) do
      include Frozen

      # Sums: after less before.
      def growth
        after - before
      end
    end

    # A frame of a recorded stack.
    #
    # label::    method, or native function; nil where unknown
    # path::     source file, or nil; lineno:: line in it, or nil
    # library::  path of the shared object of a native frame, nil for Ruby's
    # offset::   in that object, as its symbol table counts; nil for Ruby's
    # @api public
    Frame = Struct.new(:label, :path, :lineno, :library, :offset, keyword_init: true) do
      include Frozen

      def native?
        !library.nil?
      end

      # "Cache#put", "xmlNewNode", "libxml2.so.2+0x1f30", "app.rb:12"; what was lost is "(unknown)".
      def name
        label || (native? ? format("%s+0x%x", Places::BaseName.of(library), offset || 0) : place) || "(unknown)"
      end

      # Name of the gem that it belongs to, "ruby stdlib" …; nil: the application, or a library of nobody's.
      def gem
        native? ? Places::GemName.of_library(library) : Places::GemName.of(path)
      end

      # "app.rb:12"; of a native frame its source where it is known, else its library; nil where nothing is.
      def place
        return [path, lineno].compact.join(":") if path

        Places::BaseName.of(library)
      end
    end

    MAPPINGS = %w[mmap mremap munmap].freeze

    # What was called how often. function:: "malloc" …; release:: does it give back?; calls:: count;
    # bytes:: asked for, of a release given back
    Call = Struct.new(:function, :release, :calls, :bytes, keyword_init: true) do
      include Frozen

      # Of memory from mmap, where allocators get theirs?
      def mapping?
        MAPPINGS.include?(function)
      end
    end

    # One bar of a histogram. range:: Range of bytes, or of GC generations; blocks:: count; bytes:: their sizes
    Bucket = Struct.new(:range, :blocks, :bytes, keyword_init: true) do
      include Frozen

      # Buckets of rows [blocks, bytes], of which each has the numbers with so many bits as its place says; from the
      # first to the last one that has something.
      def self.of(rows)
        known = rows.each_index.reject { |bits| rows[bits].first.zero? }
        return [].freeze if known.empty?

        (known.first..known.last).map do |bits|
          low = bits.zero? ? 0 : 1 << (bits - 1)
          new(range: low..((1 << bits) - 1), blocks: rows[bits].first, bytes: rows[bits].last)
        end.freeze
      end
    end

    # A GC of a recording.
    #
    # generation::   GC.count from its beginning on
    # time::         seconds since the recording began
    # seconds::      until it ended; Ruby may sweep while the program goes on. nil: that was not seen
    # gc_seconds::   for which the program stood still for it; nil: not known
    # frame::        Frame: the line of the program that ran into it; nil: not known
    # @api public
    Collection = Struct.new(:generation, :time, :seconds, :gc_seconds, :frame, keyword_init: true) do
      include Frozen
    end

    # A span of a recording.
    #
    # time, seconds::        when it begins, since the recording did; how long it is
    # allocations, bytes_allocated::   in it; frees, bytes_freed:: likewise
    # live_bytes::           at its end; most_bytes:: the most in it
    # collections::          GCs that began in it
    # gc_seconds::           for which the program stood still for GC in it; nil: not known
    # rss, heap_bytes::      of the process and of Ruby's object heap, sampled last up to its end; nil: not yet
    # @api public
    Moment = Struct.new(:time, :seconds, :allocations, :bytes_allocated, :frees, :bytes_freed, :live_bytes, :most_bytes,
                        :collections, :gc_seconds, :rss, :heap_bytes, keyword_init: true) { include Frozen }

    # A call path in a tree.
    #
    # frame::                    Frame, nil at the root
    # depth::                    0 at the root
    # count, bytes::             of blocks that were allocated by this path and all that go on from it
    # own_count, own_bytes::     of these the ones whose path ends here
    # children::                 Array of Node, the largest first
    # rubocop:disable Lint/StructNewOverride -- blocks are counted, nobody counts a Struct's members
    # @api public
    Node = Struct.new(:frame, :depth, :count, :bytes, :own_count, :own_bytes, :children, keyword_init: true) do
      # rubocop:enable Lint/StructNewOverride
      include Frozen

      # Each node in the order in which a tree is printed; the block says whether to go below it.
      def walk
        waiting = [self]
        while (node = waiting.pop)
          waiting.concat(node.children.reverse) if yield(node)
        end
      end
    end

    # What one call path allocated in one thread under one tag. frames:: Array of Frame, the outermost first, empty:
    # unknown; thread:: name, or nil; tag:: or nil; class_name:: of objects, else nil; sums:: Sums
    # @api public
    Stack = Struct.new(:frames, :thread, :tag, :class_name, :sums, keyword_init: true) { include Frozen }

    # A recording in totals.
    #
    # command, ruby, allocator, pid::  of the process
    # started_at::      Time
    # options::         Array of String: "native", "objects", "follow", those of `heapline record` that it had
    # chosen::          Array of String: which blocks it is about, in words; empty: all of malloc's
    # seconds::         how long it was recorded; with a choice of time: how much of it was read
    # events, lost::    counts; file_bytes:: size of the capture
    # ending::          "exit 0", "signal 9", "stopped"; nil: the recording was not brought to its end
    # sums::            Sums; peak_at:: seconds after the beginning, the first moment at which most was live
    # collections::     GCs that began; gc_seconds:: for which the program stood still for them; nil: not known
    # calls::           Array of Call, most bytes first, releases last
    # sizes, ages::     Array of Bucket: of what was born by size; of what was freed by lifespan in generations
    # threads, tags, libraries, gems, lines, classes::  Array of Group, most bytes at the peak first; of blocks there
    #                   are no classes, of Ruby objects no libraries; nil where they were not asked for
    # @api public
    Summary = Struct.new(:command, :ruby, :allocator, :pid, :started_at, :options, :chosen, :seconds, :events, :lost,
                         :file_bytes, :ending, :sums, :peak_at, :collections, :gc_seconds, :calls, :sizes, :ages,
                         :threads, :tags, :libraries, :gems, :lines, :classes, keyword_init: true) do
      include Frozen

      # Is it of Ruby objects?
      def objects?
        !classes.nil? && !classes.empty?
      end

      # Events a second; nil where no time went by.
      def rate
        events / seconds if seconds.positive?
      end
    end
  end
end
