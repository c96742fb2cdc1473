# frozen_string_literal: true

require_relative "rates"

module Heapline
  module Model
    # What a process did lately, by site or group: figures of one Reading, rates since an earlier one, growth since a
    # baseline. Frozen.
    class Activity
      # One group. name: as in Snapshot#group_by; site: its Site or ObjectSite (for the total the Snapshot);
      # growth_bytes: since the baseline of the watcher, else since that of the process; rates: Rates, nil before the
      # second reading; merged: is it of several processes?
      Row = Struct.new(:name, :site, :growth_bytes, :rates, :merged, keyword_init: true) do
        def initialize(**fields)
          super
          freeze
        end

        %i[location tag live_bytes live_blocks frees].each { |name| define_method(name) { site.public_send(name) } }
        # Of rows of Ruby objects.
        %i[class_name type].each { |name| define_method(name) { site.public_send(name) } }

        # Change of live bytes a second (Float), or nil.
        def live_rate
          rates&.live_bytes
        end

        # Bytes allocated a second (Float), or nil.
        def allocation_rate
          rates&.bytes_allocated
        end

        def temporary_share
          rates&.temporary_share
        end

        # Mean lifespan of the freed blocks in GC generations (Float); nil before the first is freed.
        def lifespan
          site.mean_age unless frees.zero?
        end
      end

      attr_reader :now

      # now: Reading; earlier: the one that rates are measured against; baseline: the one that growth is.
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

      # A Row for each group, in no order of interest. Processes that were born since count from their fork; those that
      # have gone are left out on both sides.
      def rows(by, within: nil)
        before = groups(@earlier, by, within)
        base = groups(@baseline, by, within)
        @now.groups(by, within: within).map do |name, site|
          Row.new(name: name, site: site, growth_bytes: growth(site, base[name]), merged: merged?,
                  rates: Rates.between(before[name], site, seconds))
        end
      end

      # The Row of all sites together.
      def total
        sum = @now.total
        Row.new(site: sum, growth_bytes: growth(sum, @baseline&.total(@now.members)), merged: merged?,
                rates: Rates.between(@earlier&.total(@now.members), sum, seconds))
      end

      private

      def merged?
        @now.snapshots.size > 1
      end

      def groups(reading, by, within)
        reading ? reading.groups(by, within: within, members: @now.members) : {}
      end

      def growth(site, base)
        @baseline ? site.live_bytes - (base&.live_bytes || 0) : site.growth_bytes
      end
    end
  end
end
