# frozen_string_literal: true

require "heapline/native"
require "zlib"
require_relative "../../accounting/flight"
require_relative "../../figures/site_figures"

module Heapline
  module GrowthLog
    # What each site of a process had counted at one moment, by the site's number in the flight file. A frozen plain
    # value: of 10,000 sites it takes 400 kB, so that the last one can be kept to compare with. Bytes are requested.
    class Counts
      WIDTH = 5
      WORD = 8
      ALLOCATIONS, FREES, BYTES_ALLOCATED, BYTES_FREED, BASE = *0...WIDTH

      # The String that Native.choose_sites shows to its block, without quiet.
      attr_reader :packed

      # packed: the same with quiet, which is in no total.
      def initialize(packed)
        place = Accounting::FlightSites::QUIET * WIDTH * WORD
        @packed = packed.dup
        @packed[place, WIDTH * WORD] = "\0" * (WIDTH * WORD) if @packed.bytesize > place
        @packed.freeze
        freeze
      end

      # The numbers of the sites (Range).
      def numbers
        0...(packed.bytesize / (WIDTH * WORD))
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
        sums = Native.sum_figures(packed)
        Figures::SiteFigures.logged(:totals).to_h { |figure| [figure.data, sums[figure.figure]] }.compact
      end

      # The sum of base_bytes over all sites.
      def base_total
        Native.sum_figures(packed)[:base_live_bytes]
      end

      # The numbers of the `count` sites with the most bytes, without those that have none: :live, :growth (live less
      # the base_bytes of `before`), :allocated (since `before`).
      def leading(by, count, before: NONE)
        Native.leading_sites(packed, before.packed, by, count)
      end

      NONE = new("".b)

      private

      # A site that was made later counted nothing then.
      def at(number, field)
        packed.unpack1("q", offset: ((number * WIDTH) + field) * WORD) || 0
      rescue ArgumentError
        0 # beyond the end
      end
    end

    # What each site of a process had counted at earlier lines, so that a site that gets into the lines late brings what
    # it was before. Memory is bounded however long the log is: beyond MOST lines every second one is forgotten, and of
    # those that follow only every second is kept. At least 12 stay: a verdict needs so many. Deflated, one takes 3 to
    # 10 bytes a site.
    class PastCounts
      MOST = 24
      # time: seconds of the writer's clock.
      Moment = Struct.new(:time, :generation, :deflated)

      def initialize
        @moments = []
        @lines = 0
        @stride = 1
      end

      # A line was written with these Counts.
      def add(time, generation, counts)
        @last = [time, generation, counts]
        thin if @moments.size == MOST
        @moments << Moment.new(time, generation, Zlib::Deflate.deflate(counts.packed, 1)) if (@lines % @stride).zero?
        @lines += 1
      end

      # What the sites of `since` (Hash of number => a line's time, or nil: the first's) were at the lines that are kept
      # after that one: Hash of number => Array of [time, live bytes, bytes allocated, generation], oldest first.
      def of(since)
        found = since.transform_values { [] }
        return found if since.empty?

        each do |time, generation, counts|
          since.each do |number, after|
            next if after && time <= after

            found[number] << [time, counts.live_bytes(number), counts.bytes_allocated(number), generation]
          end
        end
        found
      end

      private

      def thin
        @moments = @moments.each_slice(2).map(&:first)
        @stride *= 2
      end

      # One at a time is unpacked.
      def each
        @moments.each { |moment| yield moment.time, moment.generation, Counts.new(Zlib.inflate(moment.deflated)) }
        yield(*@last) if @last && @last.first > @moments.last.time
      end
    end
  end
end
