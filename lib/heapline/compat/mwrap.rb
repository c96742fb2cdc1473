# frozen_string_literal: true

require "heapline"
require "heapline/report/mwrap_dump"
require "heapline/heap/pages"
require "heapline/processes/memory_map"

# The interface of mwrap 2, counted by heapline: `heapline --mwrap ruby script.rb` makes `require "mwrap"` load this.
# Like mwrap it is inert without its preload: nothing raises, there is just nothing. docs/mwrap.md lists what differs.
#
# All figures are since the start of the process or the last Mwrap.clear. Bytes are requested bytes, lifespans GC
# generations.
module Mwrap
  # The version of mwrap whose interface this is.
  VERSION = "2.3.0"

  # One location, live: each method reads what is counted at that moment.
  class SourceLocation
    # "app.rb:12" (String).
    attr_reader :name

    def initialize(name)
      @name = name
    end
    private_class_method :new

    # The location's SourceLocation, or nil where nothing was allocated since the last clear.
    def self.find(name)
      Heapline.quiet { new(name.dup.freeze) if Heapline[name] }
    end

    # Bytes allocated.
    def total
      figure(&:total)
    end

    # Blocks allocated.
    def allocations
      figure(&:allocations)
    end

    # How many of them were freed.
    def frees
      figure(&:frees)
    end

    # GC generations that a freed block lived on average (Float); infinite before the first is freed.
    def mean_lifespan
      row = Heapline[name]
      row ? row.mean_lifespan : Float::INFINITY
    end

    # GC generations that the oldest freed block lived.
    def max_lifespan
      figure(&:max_lifespan)
    end

    # Yields bytes and generation of each live block, see live_blocks. Returns self.
    def each
      return to_enum unless block_given?

      live_blocks.each { |_, bytes, generation| yield bytes, generation }
      self
    end

    # Address, bytes and generation of each live block (Array of Arrays, by address): the GC.count at which it was asked
    # for. That is exact for what came since the last Mwrap.clear; for older blocks it may be too low, by as many as
    # there were clears before.
    def live_blocks
      return [] unless Heapline.enabled?

      clears = Heapline::Native.generation - GC.count
      Heapline.quiet do
        Heapline.blocks(name).map { |block| [block.address, block.bytes, [block.generation - clears, 0].max] }
      end
    end

    private

    def figure
      row = Heapline[name]
      row ? yield(row) : 0
    end
  end

  # The pages of Ruby's object heap, as mwrap 2 has them. Without the preload there are none.
  class HeapPageBody
    NO_SPANS = Heapline::Heap::Spans.new(count: 0, sum: 0, squares: 0, min: nil, max: nil)
    private_constant :NO_SPANS

    class << self
      # Yields the address of each page and the generation (GC.count) of its birth (Integer). Returns their number,
      # which is that of GC.stat(:heap_allocated_pages).
      def each
        raise LocalJumpError, "no block given" unless block_given?
        return 0 unless Heapline.enabled?

        pages = Heapline.quiet { Heapline::Native.heap_pages }
        pages.each { |page| yield(*page) }
        pages.size
      end

      # Hash, or the Hash that was given, with how many generations pages lived that were given back (lifespan_max,
      # lifespan_min, lifespan_mean, lifespan_stddev), after how many others came to lie at their addresses
      # (deathspan_…), and how often that was (resurrects). Where there was none: -1, -1, infinite, 0.0.
      def stat(hash = nil)
        hash = {} if hash.nil?
        raise TypeError, "not a hash #{hash.inspect}" unless hash.is_a?(Hash)

        lives, deaths = Heapline.quiet { spans }
        hash.merge!(figures("lifespan", lives), figures("deathspan", deaths), resurrects: deaths.count)
      end

      private

      def spans
        return [NO_SPANS, NO_SPANS] unless Heapline.enabled?

        header = Heapline::Native.read_header(Heapline::Native.flight_fd)
        %i[page_lifespans page_deathspans].map { |key| Heapline::Heap::Spans.of(header[key]) }
      end

      def figures(name, spans)
        { "#{name}_max": spans.max || -1, "#{name}_min": spans.min || -1,
          "#{name}_mean": spans.mean || Float::INFINITY, "#{name}_stddev": spans.stddev || 0.0 }
      end
    end
  end

  class << self
    # Yields location, total, allocations, frees, age_total and max_lifespan of each location whose total is greater
    # than `min` bytes. Returns nil.
    def each(min = 0, &block)
      raise LocalJumpError, "no block given" unless block

      least = number(min)
      Heapline.each(least, &block) if Heapline.enabled?
    end

    # The SourceLocation of "app.rb:12", "libz.so.1+0x1f30" or, of native code, an address of this process: "[0x7f…]",
    # alone or at the end of a text. nil where nothing is known of it.
    def [](location)
      name = String.try_convert(location)
      raise TypeError, "no implicit conversion of #{location.class} into String" unless name
      return unless Heapline.enabled?

      address = name[ADDRESS, 1]
      name = Heapline.quiet { named(address.hex) } if address
      SourceLocation.find(name) if name
    end

    # All figures begin again. Returns nil.
    def clear
      Heapline.clear if Heapline.enabled?
    end
    alias reset clear

    # What the block allocates is in no figure; yields the depth, 1 outermost. Returns the block's value.
    def quiet(&block)
      raise LocalJumpError, "no block given" unless block

      Heapline.quiet(&block)
    end

    # Bytes allocated; 0 without the preload.
    def total_bytes_allocated
      Heapline.enabled? ? Heapline.total_bytes_allocated : 0
    end

    # Bytes freed; 0 without the preload.
    def total_bytes_freed
      Heapline.enabled? ? Heapline.total_bytes_freed : 0
    end

    # One line a location whose total is greater than `min`: total, allocations, location. `io` is anything with
    # `write`; nil: stderr. Returns nil.
    def dump(io = nil, min = 0)
      io ||= $stderr
      raise TypeError, "no implicit conversion of #{io.class} into IO" unless io.respond_to?(:write)

      least = number(min)
      Heapline.dump(io, least) if Heapline.enabled?
    end

    private

    ADDRESS = /\[0x(\h{1,16})\]\z/
    private_constant :ADDRESS

    # What the environment variable MWRAP asks for is written at the end, after all at_exit blocks that are registered
    # later.
    def dump_at_exit(text)
      dump = Heapline::MwrapDump.new(text)
      at_exit { Heapline.quiet { dump.write { |io| write(dump, io) } } } if dump.wanted?
    end

    # The location of the code at an address: the file that is mapped there, and what is counted at that place of it.
    def named(address)
      map = Heapline::Processes::MemoryMap.read(Process.pid)
      file = map&.find { |mapping| (mapping.start...mapping.finish).cover?(address) }&.name
      return unless file&.start_with?("/")

      # A program that is not relocatable lies where it was linked for.
      offsets = [address - map.find { |mapping| mapping.name == file }.start, address]
      Heapline.snapshot.map(&:location).find do |place|
        offsets.include?(place.offset) && place.library_path && File.identical?(place.library_path, file)
      end&.to_s
    end

    def write(dump, io)
      dump.locations { Heapline.dump(io, dump.min) }
      dump.summary { HeapPageBody.stat.each { |name, value| io.write("#{name} #{value}\n") } }
      dump.pages { HeapPageBody.each { |address, birth| io.write(format("0x%x %d\n", address, birth)) } }
    end

    def number(min)
      return 0 if min.nil?
      raise TypeError, "no implicit conversion of #{min.class} into Integer" unless min.respond_to?(:to_int)

      min.to_int
    end
  end
end

Mwrap.send(:dump_at_exit, ENV.fetch("MWRAP", "")) if Heapline.enabled?
