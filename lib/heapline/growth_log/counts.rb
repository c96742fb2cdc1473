# frozen_string_literal: true

require_relative "../model/flight"

module Heapline
  module GrowthLog
    # What each site of a process had counted at one moment, by the site's number in the flight file. A frozen plain
    # value: of 10,000 sites it takes 400 kB, so that the last one can be kept to compare with. Bytes are requested.
    class Counts
      WIDTH = 5
      ALLOCATIONS, FREES, BYTES_ALLOCATED, BYTES_FREED, BASE = *0...WIDTH

      # packed: what Native.choose_sites shows to its block.
      def initialize(packed)
        @counts = packed.unpack("q*")
        quiet = Model::FlightSites::QUIET * WIDTH
        @counts.fill(0, quiet, WIDTH) if @counts.size > quiet # it is in no total
        freeze
      end

      # The numbers of the sites (Range).
      def numbers
        0...(@counts.size / WIDTH)
      end

      def bytes_allocated(number)
        at(number, BYTES_ALLOCATED)
      end

      def live_bytes(number)
        at(number, BYTES_ALLOCATED) - at(number, BYTES_FREED)
      end

      # Bytes that were live at the process's own baseline: the fork, the last clear; 0 where there is none.
      def base_bytes(number)
        at(number, BASE)
      end

      # Sums over all sites: a Hash with the keys of a line's `totals`, but growth.
      def totals
        calls, frees, allocated, freed = (0...BASE).map { |field| sum(field) }
        { live_bytes: allocated - freed, live_blocks: calls - frees, allocations: calls, frees: frees,
          bytes_allocated: allocated, bytes_freed: freed }
      end

      NONE = new("")

      private

      # A site that was made later counted nothing then.
      def at(number, field)
        @counts[(number * WIDTH) + field] || 0
      end

      def sum(field)
        numbers.sum { |number| at(number, field) }
      end
    end
  end
end
