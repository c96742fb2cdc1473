# frozen_string_literal: true

module Heapline
  # What one location counted since the start of the process or its last baseline (Heapline.clear, `heapline baseline`,
  # a fork), over all libraries and tags. A frozen plain value.
  #
  # location::      "app.rb:12", or "libxml2.so.2+0x1f30" where no Ruby frame was near (String)
  # total::         bytes allocated
  # allocations::   blocks allocated
  # frees::         how many of these blocks were freed; never more than allocations
  # freed_bytes::   and their bytes
  # age_total::     GC generations that blocks freed since the baseline lived, added up
  # max_lifespan::  GC generations that the oldest of them lived
  # aged::          number of blocks that age_total and max_lifespan speak of
  # growth_bytes::  live now less live at the baseline; below 0 where more was freed than allocated
  # growth_blocks:: the same in blocks
  #
  # It is Enumerable over the location's live blocks (`each`), not over its figures, which `to_a` and `to_h` have.
  #
  # Lifespans speak of all blocks freed since the baseline, also of those born before it: hence `aged` beside `frees`.
  Row = Struct.new(:location, :total, :allocations, :frees, :freed_bytes, :age_total, :max_lifespan, :aged,
                   :growth_bytes, :growth_blocks) do
    def initialize(*)
      super
      freeze
    end

    # Mean lifespan of the freed blocks in GC generations (Float); infinite before the first is freed.
    def mean_lifespan
      aged.zero? ? Float::INFINITY : age_total.fdiv(aged)
    end

    # Bytes that were allocated since the baseline and are still live.
    def retained_bytes
      total - freed_bytes
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
end
