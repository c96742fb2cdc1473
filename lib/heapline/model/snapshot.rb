# frozen_string_literal: true

require_relative "gem_name"
require_relative "location"
require_relative "site"

module Heapline
  module Model
    # A consistent copy of what one process has counted: the process, its totals and its sites. Frozen; Enumerable over
    # its sites. Bytes are requested bytes. Times are Time, or nil where unknown.
    class Snapshot
      include Enumerable

      # Fields that describe the process; see docs/flight-file.md for each.
      ATTRIBUTES = %i[pid parent forked_from command ruby allocator started_at ended_at state generation gc_count
                      baseline baseline_at baseline_kind peak_bytes peak_at own_bytes flight_bytes threads attribution
                      quiet failures figures taken_at sites].freeze
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
      # What stands for nil in printed groups.
      UNNAMED = { gem: "(application)", file: "(native code)", library: "ruby", tag: "(no tag)" }.freeze

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

      def each(&)
        sites.each(&)
      end

      # Seconds from the start to the end, or to this snapshot while the process lives (Float); nil where unknown.
      def duration
        finish = ended_at || (taken_at if %i[running copied].include?(state))
        finish && started_at && (finish - started_at)
      end

      # The `count` sites with the largest `by` (any figure of Site), largest first.
      def top(count = 10, by: :growth_bytes)
        sites.max_by(count) { |site| site.public_send(by) }
      end

      # With :gem, :file, :library, :tag or :location: a Hash of name => Site with the sum, largest growth first; nil
      # is the application, native code, the VM, or no tag. With a block: Enumerable's group_by.
      def group_by(key = nil, &)
        return super(&) if key.nil?

        summed(key).sort_by { |_, site| -site.growth_bytes }.to_h
      end

      # The same sums in no order, as an Array of Site: for those that put them in an order of their own.
      def sums(key)
        summed(key).values
      end

      # The sum of what was counted at a location, given as "app.rb:12" or "libxml2.so.2+0x1f30", over all libraries and
      # tags; nil where nothing was.
      def [](location)
        found = sites.select { |site| site.location.to_s == location }
        Site.sum(found, location: found.first.location) unless found.empty?
      end

      # What happened between an earlier snapshot of the same process and this one: a Snapshot whose sites hold the
      # differences. live and growth are both the change of live bytes. Sites where nothing happened are left out.
      def -(other)
        before = other.by_key
        changed = by_key.map { |key, site| Site.difference(site, before.delete(key)) }
        changed.concat(before.values.map { |site| Site.difference(nil, site) })
        with(sites: changed.reject(&:idle?))
      end

      # Hash of Site#key => Site. Sites that differ in nothing printable (an evaluated line, evaluated again) are one.
      def by_key
        sites.group_by(&:key).transform_values do |same|
          same.size == 1 ? same.first : Site.sum(same, location: same.first.location)
        end
      end

      # Short: an error message about a snapshot in irb or a log must not hold its 100,000 sites.
      def inspect
        "#<#{self.class} of process #{pid}: #{sites.size} sites, #{live_bytes} bytes live in #{live_blocks} blocks>"
      end

      # A copy with other attributes.
      def with(**changes)
        self.class.new(**ATTRIBUTES.to_h { |name| [name, public_send(name)] }, **changes)
      end

      private

      # Hash of name => Site. The Hash of members becomes that of sums in place: there may be 100,000 names.
      def summed(key)
        name_of = GROUPS.fetch(key) { raise ArgumentError, "group by #{GROUPS.keys.join(", ")}, not #{key}" }
        groups = sites.group_by(&name_of)
        groups.each { |name, members| groups[name] = group_sum(key, name, members) }
      end

      # A group of one location keeps its line and label; other groups have only a name.
      def group_sum(key, name, members)
        return Site.sum(members, location: Location.new(special: name || UNNAMED.fetch(key))) unless key == :location

        members.size == 1 ? members.first : Site.sum(members, location: members.max_by(&:growth_bytes).location)
      end
    end
  end
end
