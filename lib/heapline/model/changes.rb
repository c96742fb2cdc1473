# frozen_string_literal: true

require_relative "normalised_location"
require_relative "site_collection"

module Heapline
  module Model
    # What lies between two SiteCollections (Snapshots, or their Objects), site by site. Frozen.
    class Changes
      # One site, or one group of sites, in both. before, after: Site or ObjectSite, nil where it was not there.
      Change = Struct.new(:location, :before, :after) do
        def tag
          newer.tag
        end

        def class_name
          newer.class_name
        end

        # As in an ObjectSite.
        def name
          newer.name
        end

        def type
          newer.type
        end

        # Is it of Ruby objects?
        def object?
          newer.kind == :object
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

        # The same as a Site, or ObjectSite.
        def difference
          newer.class.difference(after, before)
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

        def before_blocks
          before&.live_blocks || 0
        end

        def live_blocks
          after&.live_blocks || 0
        end

        # Is nothing different? What every source of snapshots knows of decides.
        def idle?
          [growth_bytes, growth_blocks, allocations, bytes_allocated].all?(&:zero?)
        end

        private

        # A sum over nothing is neither of a site that was there nor of one that is.
        def newer
          after || before
        end
      end

      # Array of Change in no order, those without any difference left out.
      attr_reader :list

      # exact: are both of one process? Else locations are compared without what a deploy changes.
      def initialize(before, after, exact:)
        @exact = exact
        @groups = after.class::GROUPS
        @places = after.class::PLACES
        @list = changes_of(by_key(before), by_key(after)).freeze
        freeze
      end

      # The changes summed by a key of the collection's GROUPS, in no order.
      def sums(key)
        name_of = @groups.fetch(key) { raise ArgumentError, "group by #{@groups.keys.join(", ")}" }
        list.group_by(&name_of).map do |name, members|
          place = members.first.location
          place = Location.new(special: name || SiteCollection::UNNAMED.fetch(key)) unless @places.include?(key)
          Change.new(place, sum(members.filter_map(&:before)), sum(members.filter_map(&:after)))
        end
      end

      # The changes as Sites, or ObjectSites.
      def differences
        list.map(&:difference)
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

      # Hash of key => site. The first of a key is the file's, which a change of lines leaves.
      def by_key(collection)
        files = Hash.new { |known, path| known[path] = path && file(path) }
        collection.sites.group_by { |site| key(site, files) }.transform_values { |same| sum(same) }
      end

      def file(path)
        @exact ? path : NormalisedLocation.of(path)
      end

      def key(site, files)
        place = site.location
        library = place.library && (@exact ? place.library : NormalisedLocation.library(place.library))
        [files[place.path], place.path ? place.lineno : native(place), place.path && place.label, library,
         *site.nature]
      end

      def native(place)
        return place.to_s if @exact || place.special

        NormalisedLocation.native(place.to_s, place.label, place.library)
      end

      def sum(sites)
        return sites.first if sites.size < 2

        sites.first.class.sum(sites, location: sites.first.location)
      end
    end
  end
end
