# frozen_string_literal: true

require_relative "snapshot"
require_relative "../places/location"
require_relative "../places/site_collection"
require_relative "../figures/site_figures"

module Heapline
  module Accounting
    # What grew between two snapshots: of one process at two times, or of two processes, such as two deploys. Of two
    # processes the locations are compared without what a deploy changes: release directories, versions of gems, of
    # Ruby and of libraries. Frozen.
    class Comparison
      # A report in JSON has microseconds, a flight file nanoseconds.
      SAME_START = 0.001

      # before, after: Snapshot. changes: Array of Changes::Change in no order, sites without any difference left out.
      # objects: the Changes of the Ruby objects, or nil where not both snapshots know of them.
      attr_reader :before, :after, :objects

      def initialize(before, after)
        @before = before
        @after = after
        @calls = [before, after].all? { |snapshot| self.class.calls?(snapshot) }
        @sites = Changes.new(before, after, exact: same_process?, calls: @calls)
        @objects = Changes.new(before.objects, after.objects, exact: same_process?) if before.objects && after.objects
        freeze
      end

      def changes
        @sites.list
      end

      # Are blocks and calls known of a Snapshot? A growth log has neither.
      def self.calls?(snapshot)
        snapshot.live_bytes.zero? || snapshot.live_blocks.positive? || snapshot.allocations.positive?
      end

      # Of both?
      def calls?
        @calls
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
        @sites.sums(key)
      end

      # The differences as a Snapshot, for formats of those: live and growth are both the change of what lives.
      def difference
        after.with(sites: @sites.differences, objects: @objects && Objects::Snapshot.new(@objects.differences))
      end
    end

    # What lies between two SiteCollections (Snapshots, or their Objects), site by site. Frozen.
    class Changes
      # One site, or one group of sites, in both. before, after: Site or ObjectSite, nil where it was not there.
      Change = Struct.new(:location, :before, :after) do
        # As in an ObjectSite.
        %i[tag class_name name type].each { |what| define_method(what) { newer.public_send(what) } }

        # Is it of Ruby objects?
        def object?
          newer.kind == :object
        end

        def before_bytes
          figure(before, :live_bytes)
        end

        def before_blocks
          figure(before, :live_blocks)
        end

        def live_bytes
          figure(after, :live_bytes)
        end

        def live_blocks
          figure(after, :live_blocks)
        end

        # Live after less live before; below 0 where it shrank.
        def growth_bytes
          live_bytes - before_bytes
        end

        def growth_blocks
          live_blocks - before_blocks
        end

        # Differences as well: of one process what was meanwhile.
        %i[allocations bytes_allocated].each do |name|
          define_method(name) { figure(after, name) - figure(before, name) }
        end

        # The same as a Site, or ObjectSite.
        def difference
          newer.class.difference(after, before)
        end

        # Is nothing different? calls: also of blocks and calls.
        def idle?(calls: true)
          growth_bytes.zero? && (!calls || [growth_blocks, allocations, bytes_allocated].all?(&:zero?))
        end

        private

        def figure(site, name)
          site ? site.public_send(name) : 0
        end

        # A sum over nothing is neither of a site that was there nor of one that is.
        def newer
          after || before
        end
      end

      # Array of Change in no order, those without any difference left out.
      attr_reader :list

      # exact: are both of one process? Else locations are compared without what a deploy changes. calls: are blocks and
      # calls known of both?
      def initialize(before, after, exact:, calls: true)
        @exact = exact
        @calls = calls
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
          unless @places.include?(key)
            place = Places::Location.new(special: name || Places::SiteCollection::UNNAMED.fetch(key))
          end
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
        all.reject { |change| change.idle?(calls: @calls) }
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
        @exact ? path : Places::NormalisedLocation.of(path)
      end

      def key(site, files)
        place = site.location
        library = place.library && (@exact ? place.library : Places::NormalisedLocation.library(place.library))
        [files[place.path], place.path ? place.lineno : native(place), place.path && place.label, library,
         *site.nature]
      end

      def native(place)
        return place.to_s if @exact || place.special

        Places::NormalisedLocation.native(place.to_s, place.label, place.library)
      end

      def sum(sites)
        return sites.first if sites.size < 2

        sites.first.class.sum(sites, location: sites.first.location)
      end
    end

    # The columns of `heapline diff`, of a Changes::Change.
    module ChangeColumns
      ALL = [
        Figures::SiteFigures.fetch(:growth),
        Figures::Columns::Column.new(key: :before, title: "before", figure: :before_bytes, unit: :bytes),
        Figures::Columns::Column.new(key: :after, title: "after", figure: :live_bytes, unit: :bytes),
        Figures::Columns::Column.new(key: :blocks, title: "blocks", figure: :growth_blocks, unit: :count),
        *Figures::SiteFigures.fetch_values(:bytes, :allocs)
      ].freeze
      # The same of Ruby objects, in objects.
      OBJECTS = [
        Figures::Columns::Column.new(key: :growth, title: "growth", figure: :growth_blocks, unit: :count),
        Figures::Columns::Column.new(key: :before, title: "before", figure: :before_blocks, unit: :count),
        Figures::Columns::Column.new(key: :after, title: "after", figure: :live_blocks, unit: :count),
        Figures::Columns::Column.new(key: :bytes, title: "slots", figure: :growth_bytes, unit: :bytes),
        Figures::Columns::Column.new(key: :allocs, title: "allocated", figure: :allocations, unit: :count)
      ].freeze
      # The key that objects have no column of their own for: their growth is in numbers.
      SAME = { blocks: :growth }.freeze
      KEYS = ALL.map(&:key).freeze
      # What goes first where the screen is narrow.
      LEAST = %i[allocs bytes blocks before].freeze

      # Those that are of blocks and calls.
      CALLS = %i[blocks bytes allocs].freeze
      # ALL where those are not known.
      BYTES = ALL.map do |column|
        CALLS.include?(column.key) ? column.dup.tap { |one| one.words = ->(_) { "-" } }.freeze : column
      end.freeze

      # The column of a key of KEYS.
      def self.fetch(key)
        ALL.find { |column| column.key == key }
      end

      # The one of OBJECTS.
      def self.of_objects(key)
        OBJECTS.find { |column| column.key == SAME.fetch(key, key) }
      end
    end
  end
end
