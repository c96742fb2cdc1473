# frozen_string_literal: true

require_relative "../figures/site_figures"

module Heapline
  module Top
    # What a process did lately, by site or group: figures of one Reading, rates since an earlier one, growth since a
    # baseline. Frozen.
    class Activity
      # One group. name: as in Snapshot#group_by; site: its Site or ObjectSite (for the total the Snapshot);
      # growth_bytes: since the baseline of the watcher, else since that of the process; before: what it was `seconds`
      # ago (nil: nothing was counted there; seconds is nil before the second reading); merged: is it of several
      # processes? There may be 100,000, of which 50 are shown: rates are computed when they are asked for.
      Row = Struct.new(:name, :site, :growth_bytes, :before, :seconds, :merged) do
        %i[location tag live_bytes live_blocks frees].each { |name| define_method(name) { site.public_send(name) } }
        # Of rows of Ruby objects.
        %i[class_name type].each { |name| define_method(name) { site.public_send(name) } }

        # How fast a figure of the site moves, a second (Float); nil before the second reading.
        def rate(figure)
          change(figure) / seconds if seconds&.positive?
        end

        # Of the blocks that were freed meanwhile, how many were temporary (0.0 to 1.0); nil: none was.
        def temporary_share
          Figures::SiteFigures.temporary_share(change(:temporary), change(:frees)) if seconds&.positive?
        end

        # Mean lifespan of the freed blocks in GC generations (Float); nil before the first is freed.
        def mean_age
          site.mean_age unless frees.zero?
        end

        # The same in milliseconds.
        def mean_age_ms
          site.mean_age_ms unless frees.zero?
        end

        private

        def change(figure)
          site.public_send(figure) - (before ? before.public_send(figure) : 0)
        end
      end

      # now: Reading; earlier: the one that rates are measured against; baseline: the one that growth is. Either may be
      # nil.
      attr_reader :now, :earlier, :baseline

      def initialize(now, earlier: nil, baseline: nil)
        @now = now
        @earlier = earlier
        @baseline = baseline
        freeze
      end

      # Seconds that the rates are over (Float); nil before the second reading.
      def seconds
        @earlier && (@now.at - @earlier.at)
      end

      def baseline?
        !@baseline.nil?
      end

      # What the earlier reading kept.
      def before
        @earlier&.keep
      end

      # A Row for each group, in no order of interest: an Array, or Tally::Rows. Processes that were born since count
      # from their fork; those that have gone are left out on both sides.
      def rows(by, within: nil)
        @now.rows(self, by, within)
      end

      # base: live bytes at the watcher's baseline; before: as in Row.
      def row(name, site, base, before)
        Row.new(name, site, baseline? ? site.live_bytes - base : site.growth_bytes, before, seconds, merged?)
      end

      # The Row of all sites together.
      def total
        base = @now.base_live_bytes || @baseline&.total(@now.members)&.live_bytes || 0
        row(nil, @now.total, base, @earlier&.total(@now.members))
      end

      private

      def merged?
        @now.snapshots.size > 1
      end
    end
  end
end
