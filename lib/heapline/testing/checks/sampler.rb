# frozen_string_literal: true

module Heapline
  module Checks
    # Measuring points: after a full GC the live blocks and bytes of each site, exactly, and the live slots of the
    # object heap. What it keeps itself is in none of them: its memory is quiet, and its objects are one String a point,
    # which is subtracted.
    # @api private
    class Sampler
      # Of each site choose_sites gives so many 64-bit numbers: allocations, frees, bytes allocated, bytes freed, and
      # live bytes at the baseline.
      FIGURES = 5
      WORD = 8
      NONE = [].freeze
      # Where the two series of a site begin among its figures.
      BLOCKS = 0
      BYTES = 2

      # capacity: the most points that will be taken.
      def initialize(capacity)
        @slots = Array.new(capacity, 0)
        @figures = Array.new(capacity)
        @count = 0
      end

      # Take a point.
      def take
        Heapline.quiet do
          GC.start
          @slots[@count] = GC.stat(:heap_live_slots) - @count
          Native.choose_sites(Native.flight_fd, true) { |figures| keep(figures) }
          @count += 1
        end
      end

      # Live slots at each point.
      def slots
        @slots.first(@count)
      end

      # Live blocks (what: BLOCKS) or bytes (BYTES) of the site with this number, at each point.
      def series(number, what)
        place = ((number * FIGURES) + what) * WORD
        @figures.first(@count).map do |figures|
          next 0 if place >= figures.bytesize

          figures.unpack1("q", offset: place) - figures.unpack1("q", offset: place + WORD)
        end
      end

      # Numbers of the sites that have more live blocks or bytes at the last point than at the first.
      def risen
        before = @figures.first.unpack("q*")
        after = @figures[@count - 1].unpack("q*")
        (0...(after.size / FIGURES)).select do |number|
          number != Accounting::FlightSites::QUIET && [BLOCKS, BYTES].any? { |what| rose?(before, after, number, what) }
        end
      end

      private

      def keep(figures)
        @figures[@count] = figures
        NONE
      end

      def rose?(before, after, number, what)
        place = (number * FIGURES) + what
        after[place] - after[place + 1] > (before[place] || 0) - (before[place + 1] || 0)
      end
    end
  end
end
