# frozen_string_literal: true

require_relative "../places/location"
require_relative "../objects/snapshot"
require_relative "site"
require_relative "../places/site_collection"

module Heapline
  module Accounting
    # A consistent copy of what one process has counted: the process, its totals and its sites. Frozen; Enumerable over
    # its sites. Bytes are requested bytes. Times are Time, or nil where unknown. `objects` are its Ruby objects
    # (Objects), or nil where they were not accounted. moved_bytes is what the process allocated and freed while it was
    # read: no sum of bytes is off by more.
    #
    # A snapshot that was read for some of its rows (Flight::Wanted) has those in `sites`, or in `written`, as
    # Native::Rows, which the format that writes them releases; `totals` are of all, row_count is how many rows there
    # were to choose from, site_count how many sites there are, and `kinds` Sites with what lives by Ruby lines and by
    # others. `merged` is how many processes are added to it that were forked from it (ProcessTree), nil: it is one.
    # @api public
    class Snapshot
      include Places::SiteCollection

      # Fields that describe the process; see docs/flight-file.md for each.
      ATTRIBUTES = %i[pid start_ticks parent forked_from forked_from_ticks command ruby allocator started_at ended_at
                      state generation gc_count baseline baseline_at baseline_kind peak_bytes peak_at own_bytes
                      flight_bytes threads attribution layout quiet failures figures taken_at moved_bytes sites objects
                      totals row_count site_count kinds written older stopped_at merged].freeze
      # What is known of all sites where `sites` may be some of them.
      OF_ALL = %i[totals row_count site_count kinds written].freeze
      GROUPS = {
        gem: ->(site) { site.location.gem },
        file: ->(site) { site.location.path },
        library: ->(site) { site.location.library },
        tag: :tag.to_proc,
        location: ->(site) { site.location.to_s }
      }.freeze
      PLACES = %i[location].freeze

      attr_reader(*ATTRIBUTES)

      # All ATTRIBUTES by keyword; what is left out is nil (failures: {}, sites: [], moved_bytes: 0).
      def initialize(**attributes)
        unknown = attributes.keys - ATTRIBUTES
        raise ArgumentError, "no such attribute: #{unknown.join(", ")}" unless unknown.empty?

        ATTRIBUTES.each { |name| instance_variable_set("@#{name}", attributes[name]) }
        @failures = (@failures || {}).freeze
        @sites = (@sites || []).freeze
        @moved_bytes ||= 0
        @totals = (@totals || {}).dup # filled when they are asked for: adding up 100,000 sites takes its time
        freeze
      end

      # Totals over all sites.
      Figures::SiteFigures::TOTALS.each { |name| define_method(name) { @totals[name] ||= sites.sum(&name) } }

      # Seconds from the start to the end, or to this snapshot while the process lives (Float); nil where unknown.
      def duration
        finish = ended_at || (taken_at if %i[running copied].include?(state))
        finish && started_at && (finish - started_at)
      end

      # Seconds from the start to the moment when most was live (Float); nil where unknown.
      def peak_after
        [peak_at - started_at, 0].max if peak_at && started_at
      end

      # How much of what was allocated was temporary (whole number); nil where nothing was.
      def temporary_percent
        (100.0 * temporary / allocations).round unless allocations.zero? || !ruby?
      end

      # Is it a program with a Ruby in it? Others have no GCs: a generation is a tenth of a second there.
      def ruby?
        !ruby.nil?
      end

      # Is its growth since a baseline, and not since the start?
      def baseline?
        baseline.to_i.positive?
      end

      # A copy, in whose sites and objects start-up and loading are a place each (SiteCollection#staged).
      def overview(grown = grown_since)
        with(sites: staged(grown), objects: objects&.overview)
      end

      # A copy with what loading code took alone.
      def loading
        with(sites: loaded, objects: objects && Objects::Snapshot.new(objects.loaded))
      end

      # What happened between an earlier snapshot of the same process and this one: a Snapshot whose sites and objects
      # hold the differences. live and growth are both the change of what lives. Where nothing happened is left out.
      def -(other)
        with(sites: differences(other), objects: objects && other.objects && (objects - other.objects))
      end

      # Short: an error message about a snapshot in irb or a log must not hold its 100,000 sites.
      def inspect
        "#<#{self.class} of process #{pid}: #{sites.size} sites, #{live_bytes} bytes live in #{live_blocks} blocks>"
      end

      # A copy with other attributes. Sums are of the sites.
      def with(**changes)
        kept = changes.key?(:sites) ? ATTRIBUTES - OF_ALL : ATTRIBUTES
        self.class.new(**kept.to_h { |name| [name, public_send(name)] }, **changes)
      end
    end
  end
end
