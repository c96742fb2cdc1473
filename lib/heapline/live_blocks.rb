# frozen_string_literal: true

require_relative "unnamed_file"

# Live blocks, one by one.
module Heapline
  # A block of malloc that is not freed yet. A frozen plain value.
  #
  # address::    where it begins
  # bytes::      as they were requested
  # generation:: when it was asked for: GC.count at that time, and the number of baselines before
  # thread::     kernel thread id of who asked for it; 0: not known
  LiveBlock = Struct.new(:address, :bytes, :generation, :thread) do
    def initialize(*)
      super
      freeze
    end
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
        numbers = Rows.numbers(raw_sites, String.try_convert(location))
        LiveBlocks.new(UnnamedFile.read { |file| Native.blocks(file.fileno, numbers) })
      end
    end
  end
end
