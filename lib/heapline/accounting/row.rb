# frozen_string_literal: true

require_relative "../frozen"
require_relative "../terminal/inert"
require_relative "../files/output_file"

module Heapline
  # What one location counted since the start of the process or its last baseline (Heapline.clear, `heapline baseline`,
  # a fork), over all libraries and tags. A frozen plain value.
  #
  # location::      "app.rb:12", or "libxml2.so.2+0x1f30" where no Ruby frame was near (String)
  # total::         bytes allocated
  # allocations::   blocks allocated
  # frees::         how many of these blocks were freed; never more than allocations
  # bytes_freed::   and their bytes
  # age_total::     GC generations that blocks freed since the baseline lived, added up
  # max_lifespan::  GC generations that the oldest of them lived
  # aged::          number of blocks that age_total and max_lifespan speak of
  # growth_bytes::  live now minus live at the baseline; below 0 where more was freed than allocated
  # growth_blocks:: the same in blocks
  #
  # It is Enumerable over the location's live blocks (`each`), not over its figures, which `to_a` and `to_h` have.
  #
  # Lifespans speak of all blocks freed since the baseline, also of those born before it: hence `aged` beside `frees`.
  Row = Struct.new(:location, :total, :allocations, :frees, :bytes_freed, :age_total, :max_lifespan, :aged,
                   :growth_bytes, :growth_blocks) do
    include Frozen

    # Mean lifespan of the freed blocks in GC generations (Float); infinite before the first is freed.
    def mean_lifespan
      aged.zero? ? Float::INFINITY : age_total.fdiv(aged)
    end

    # Bytes that were allocated since the baseline and are still live.
    def retained_bytes
      total - bytes_freed
    end

    # Blocks that were allocated since the baseline and are still live.
    def retained_blocks
      allocations - frees
    end

    # Yields bytes and generation (LiveBlock) of each live block of the location, as it is now: also of those from
    # before the baseline. Needs HEAPLINE=blocks; raises NotEnabled elsewhere. Without a block: an Enumerator.
    def each
      return to_enum unless block_given?

      Heapline.blocks(location).each { |block| yield block.bytes, block.generation }
      self
    end

    # Was nothing allocated or freed here since the baseline?
    def idle?
      allocations.zero? && growth_blocks.zero?
    end
  end

  # From the raw sites of a flight file (see docs/flight-file.md) to Rows, one for each location. A Snapshot would do
  # too, but its objects are several times as many, and reading one's own figures must not drive one's own GC.
  class Row
    # Where among the figures the only maximum is; all others add up.
    LONGEST = 5

    class << self
      # The Rows of the locations where something was allocated or freed since the baseline (frozen Array).
      def of(sites)
        grouped = counted(sites).group_by { |site| location_of(site) }
        grouped.map { |location, same| sum(location, same) }.reject(&:idle?).freeze
      end

      # Write a line for each of `rows` whose total is greater than `min`: total bytes, allocations, location.
      def dump(rows, io, min)
        rows.each do |row|
          next unless row.total > min

          io.write(format("%<total>16d %<allocations>12d %<location>s\n",
                          total: row.total, allocations: row.allocations, location: Inert.text(row.location)))
        end
        nil
      end

      # The Row of one location, or nil where it has none.
      def find(sites, location)
        same = counted(sites).select { |site| location_of(site) == location }
        row = sum(location.dup, same) unless same.empty?
        row unless row.nil? || row.idle?
      end

      # The numbers of its sites (Array).
      def numbers(sites, location)
        counted(sites).select { |site| location_of(site) == location }.map { |site| site[:number] }
      end

      private

      # What was born inside quiet is in no figure.
      def counted(sites)
        sites.reject { |site| site[:number] == Accounting::FlightSites::QUIET }
      end

      # The same text as Places::Location#to_s.
      def location_of(site)
        case Accounting::FlightSites::KINDS[site[:kind]]
        when :ruby then "#{site[:path] || "(unknown)"}:#{site[:line]}"
        when :native then format("%<library>s+0x%<offset>x", library: library(site), offset: site[:offset])
        else Accounting::FlightSites::SPECIAL.fetch(site[:number], "(unknown)")
        end
      end

      def library(site)
        site[:library] ? File.basename(site[:library]) : "ruby"
      end

      def sum(location, sites)
        new(location.freeze, *sites.map { |site| figures(site) }.reduce { |one, other| add(one, other) })
      end

      # All figures of a Row in its order, the location left out.
      def figures(site)
        total = site[:bytes_allocated] - site[:base_bytes_allocated]
        allocations = site[:allocations] - site[:base_allocations]
        aged = site[:frees] - site[:base_frees]
        [total, allocations, site[:new_frees], site[:new_bytes_freed], site[:age_sum] - site[:base_age_sum],
         site[:new_age_max], aged, total - (site[:bytes_freed] - site[:base_bytes_freed]), allocations - aged]
      end

      def add(one, other)
        one.zip(other).each_with_index.map { |pair, index| index == LONGEST ? pair.max : pair.sum }
      end
    end
  end
end

# Live blocks, one by one.
module Heapline
  # A block of malloc that is not freed yet. A frozen plain value.
  #
  # address::    where it begins
  # bytes::      as they were requested
  # generation:: when it was asked for: GC.count at that time, and the number of baselines before
  # thread::     kernel thread id of who asked for it; 0: not known
  LiveBlock = Struct.new(:address, :bytes, :generation, :thread) do
    include Frozen
  end

  # The live blocks of one location as they were at one instant, by address: Enumerable of LiveBlock. Frozen.
  class LiveBlocks
    include Enumerable

    WORDS = LiveBlock.members.size
    ENTRY = WORDS * 8
    private_constant :WORDS, :ENTRY

    # packed: String of what Native.blocks writes.
    def initialize(packed)
      @packed = packed.freeze
      freeze
    end

    def each
      return to_enum { size } unless block_given?

      size.times { |number| yield LiveBlock.new(*@packed.unpack("Q#{WORDS}", offset: number * ENTRY)) }
      self
    end

    # How many there are.
    def size
      @packed.bytesize / ENTRY
    end
  end

  class << self
    # The live blocks of `location` ("app.rb:12"; as in Heapline[]) one by one, also those from before the baseline:
    # LiveBlocks, without any where nothing is known of it. Needs HEAPLINE=blocks. Garbage that no GC has freed yet is
    # live; `GC.start` before leaves what is held. Raises NotEnabled where this process keeps no blocks,
    # SystemCallError where it cannot be copied.
    def blocks(location)
      quiet do
        numbers = Row.numbers(raw_sites, String.try_convert(location))
        LiveBlocks.new(Files::OutputFile.read_back { |file| Native.blocks(file.fileno, numbers) })
      end
    end
  end
end
