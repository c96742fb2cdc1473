# frozen_string_literal: true

require "forwardable"
require "heapline/clock"

# What one block does.
module Heapline
  class << self
    # What the block allocated, freed and retained, by line (Measurement):
    #
    #   load = Heapline.measure { Catalogue.load("books.xml") }
    #   load.retained_bytes          # => 5_120_344
    #   load.top(3, by: :live_bytes) # the lines that hold them
    #
    # All threads of the process are counted. A full GC before and after the block makes `retained` what the program
    # really holds; gc: false leaves them out where their time (tens of milliseconds in a large heap) is too much, and
    # then garbage counts as retained. Raises what the block raises; NotEnabled without the preload.
    def measure(gc: true) # rubocop:disable Naming/MethodParameterName -- gc is the word
      before = measuring_point(gc)
      started = Clock.now
      value = yield
      seconds = Clock.now - started
      after = measuring_point(gc)
      quiet { Measurement.new(value: value, difference: after - before, seconds: seconds) }
    end

    private

    def measuring_point(collect)
      quiet do
        GC.start if collect
        snapshot
      end
    end
  end
end

module Heapline
  # What the process allocated and freed while the block of Heapline.measure ran. Frozen; Enumerable over the sites
  # where something happened (Accounting::Site, whose figures are the differences). Bytes are requested bytes.
  class Measurement
    include Enumerable
    extend Forwardable

    # The block's value.
    attr_reader :value
    # The difference as an Accounting::Snapshot.
    attr_reader :difference
    # How long the block ran, in seconds (Float).
    attr_reader :seconds

    def_delegators :difference, :sites, :each, :top, :group_by, :[], :allocations, :frees, :bytes_allocated,
                   :bytes_freed, :temporary

    def initialize(value:, difference:, seconds:)
      @value = value
      @difference = difference
      @seconds = seconds
      freeze
    end

    # bytes_allocated less bytes_freed: what the block left behind. Below 0 where it freed more than it allocated.
    def retained_bytes
      difference.live_bytes
    end

    # The same in blocks.
    def retained_blocks
      difference.live_blocks
    end

    def inspect
      "#<#{self.class} allocated #{bytes_allocated} bytes in #{allocations} blocks, freed #{bytes_freed} in " \
        "#{frees}, retained #{retained_bytes} in #{retained_blocks}>"
    end
    alias to_s inspect
  end
end
