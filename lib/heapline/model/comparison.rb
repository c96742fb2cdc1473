# frozen_string_literal: true

require_relative "normalised_location"
require_relative "snapshot"

module Heapline
  module Model
    # What grew between two snapshots: of one process at two times, or of two processes, such as two deploys. Of two
    # processes the locations are compared without what a deploy changes: release directories, versions of gems, of
    # Ruby and of libraries. Frozen.
    class Comparison
      # A report in JSON has microseconds, a flight file nanoseconds.
      SAME_START = 0.001

      # One site, or one group of sites, in both. before, after: Site, or nil where it was not there.
      Change = Struct.new(:location, :before, :after) do
        def tag
          (after || before).tag
        end

        def before_bytes
          before ? before.live_bytes : 0
        end

        def live_bytes
          after ? after.live_bytes : 0
        end

        # Live after less live before; below 0 where it shrank.
        def growth_bytes
          live_bytes - before_bytes
        end

        # The same as a Site.
        def difference
          Site.difference(after, before)
        end

        # Differences as well: of one process what was meanwhile.
        def growth_blocks
          (after&.live_blocks || 0) - (before&.live_blocks || 0)
        end

        def allocations
          (after&.allocations || 0) - (before&.allocations || 0)
        end

        def bytes_allocated
          (after&.bytes_allocated || 0) - (before&.bytes_allocated || 0)
        end

        # Is nothing different? What every source of snapshots knows of decides.
        def idle?
          [growth_bytes, growth_blocks, allocations, bytes_allocated].all?(&:zero?)
        end
      end

      # before, after: Snapshot. changes: Array of Change in no order, sites without any difference left out.
      attr_reader :before, :after, :changes

      def initialize(before, after)
        @before = before
        @after = after
        @changes = changes_of(by_key(before), by_key(after)).freeze
        freeze
      end

      # One process at two times, and not two processes?
      def same_process?
        before.pid == after.pid && !before.started_at.nil? && !after.started_at.nil? &&
          (before.started_at - after.started_at).abs < SAME_START
      end

      # Seconds between the two (Float); nil where unknown.
      def seconds
        times = [before, after].map { |snapshot| snapshot.ended_at || snapshot.taken_at }
        times.last - times.first if times.all?
      end

      # The changes summed by :gem, :file, :library, :tag or :location, in no order.
      def sums(key)
        name_of = Snapshot::GROUPS.fetch(key) { raise ArgumentError, "group by #{Snapshot::GROUPS.keys.join(", ")}" }
        changes.group_by(&name_of).map do |name, members|
          place = members.first.location
          place = Location.new(special: name || Snapshot::UNNAMED.fetch(key)) unless key == :location
          Change.new(place, sum(members.filter_map(&:before)), sum(members.filter_map(&:after)))
        end
      end

      # The differences as a Snapshot, for formats of those: live and growth are both the change of live bytes.
      def difference
        after.with(sites: changes.map(&:difference))
      end

      private

      def changes_of(olds, news)
        paths = {}
        [olds, news].each { |sites| sites.each { |key, site| paths[key.first] = site.location } }
        all = (news.keys | olds.keys).map { |key| change(olds[key], news[key], paths[key.first]) }
        all.reject(&:idle?)
      end

      # What is gone is shown under the path that its file has now.
      def change(old, new, shown)
        return Change.new(new.location, old, new).freeze if new

        place = old.location
        place = place.dup.tap { |copy| copy.path = shown.path }.freeze if place.path
        Change.new(place, old.dup.tap { |copy| copy.location = place }.freeze, nil).freeze
      end

      # Hash of key => Site. The first of a key is the file's, which a change of lines leaves.
      def by_key(snapshot)
        files = Hash.new { |known, path| known[path] = path && file(path) }
        snapshot.sites.group_by { |site| key(site, files) }.transform_values { |same| sum(same) }
      end

      def file(path)
        same_process? ? path : NormalisedLocation.of(path)
      end

      def key(site, files)
        place = site.location
        library = place.library && (same_process? ? place.library : NormalisedLocation.library(place.library))
        [files[place.path], place.path ? place.lineno : native(place), place.path && place.label, library, site.tag,
         site.kind]
      end

      def native(place)
        return place.to_s if same_process? || place.special

        NormalisedLocation.native(place.to_s, place.label, place.library)
      end

      def sum(sites)
        return sites.first if sites.size < 2

        Site.sum(sites, location: sites.first.location)
      end
    end
  end
end
