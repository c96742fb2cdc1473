# frozen_string_literal: true

require "forwardable"

module Heapline
  # What the process allocated and freed while the block of Heapline.measure ran. Frozen; Enumerable over the sites
  # where something happened (Model::Site, whose figures are the differences). Bytes are requested bytes.
  class Measurement
    include Enumerable
    extend Forwardable

    # The block's value.
    attr_reader :value
    # The difference as a Model::Snapshot.
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
