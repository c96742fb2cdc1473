# frozen_string_literal: true

require_relative "gem_name"
require_relative "location"
require_relative "objects"
require_relative "site"
require_relative "site_collection"

module Heapline
  module Model
    # A consistent copy of what one process has counted: the process, its totals and its sites. Frozen; Enumerable over
    # its sites. Bytes are requested bytes. Times are Time, or nil where unknown. `objects` are its Ruby objects
    # (Objects), or nil where they were not accounted.
    class Snapshot
      include SiteCollection

      # Fields that describe the process; see docs/flight-file.md for each.
      ATTRIBUTES = %i[pid parent forked_from command ruby allocator started_at ended_at state generation gc_count
                      baseline baseline_at baseline_kind peak_bytes peak_at own_bytes flight_bytes threads attribution
                      quiet failures figures taken_at sites objects].freeze
      # Totals over all sites.
      TOTALS = %i[allocations frees bytes_allocated bytes_freed live_bytes live_blocks growth_bytes growth_blocks
                  retained_bytes retained_blocks temporary].freeze
      GROUPS = {
        gem: ->(site) { site.location.gem },
        file: ->(site) { site.location.path },
        library: ->(site) { site.location.library },
        tag: :tag.to_proc,
        location: ->(site) { site.location.name }
      }.freeze
      PLACES = %i[location].freeze

      attr_reader(*ATTRIBUTES)

      # All ATTRIBUTES by keyword; what is left out is nil (failures: {}, sites: []).
      def initialize(**attributes)
        unknown = attributes.keys - ATTRIBUTES
        raise ArgumentError, "no such attribute: #{unknown.join(", ")}" unless unknown.empty?

        ATTRIBUTES.each { |name| instance_variable_set("@#{name}", attributes[name]) }
        @failures = (@failures || {}).freeze
        @sites = (@sites || []).freeze
        @totals = {} # filled when they are asked for: adding up 100,000 sites takes its time
        freeze
      end

      TOTALS.each { |name| define_method(name) { @totals[name] ||= sites.sum(&name) } }

      # Seconds from the start to the end, or to this snapshot while the process lives (Float); nil where unknown.
      def duration
        finish = ended_at || (taken_at if %i[running copied].include?(state))
        finish && started_at && (finish - started_at)
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

      # A copy with other attributes.
      def with(**changes)
        self.class.new(**ATTRIBUTES.to_h { |name| [name, public_send(name)] }, **changes)
      end
    end
  end
end
