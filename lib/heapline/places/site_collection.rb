# frozen_string_literal: true

require_relative "location"

module Heapline
  module Places
    # What a Snapshot and its Objects have in common: Enumerable over `sites` (Sites, ObjectSites), which are ranked,
    # summed and compared. Who includes it has `sites`, GROUPS, a Hash of key => what names the group of a site, and
    # PLACES, those keys whose groups are of one line.
    module SiteCollection
      include Enumerable

      STAGES = Location::STAGES.to_h { |name| [name, Location.new(special: name)] }.freeze
      private_constant :STAGES

      # What stands for nil in printed groups.
      UNNAMED = { gem: "(application)", file: "(native code)", library: "ruby", tag: "(no tag)" }.freeze

      def each(&)
        sites.each(&)
      end

      # The `count` sites with the largest `by` (any figure of theirs), largest first.
      def top(count = 10, by: :growth_bytes)
        sites.max_by(count) { |site| site.public_send(by) }
      end

      # With a key of GROUPS: a Hash of name => the sum, largest growth first; nil is the application, native code, the
      # VM, or no tag. With a block: Enumerable's group_by.
      def group_by(key = nil, &)
        return super(&) if key.nil?

        groups(key).sort_by { |_, site| -site.growth_bytes }.to_h
      end

      # The same Hash in no order. names: Hash of site => name of its group, where they are known.
      def groups(key, names = nil)
        summed(key, names)
      end

      # The same sums in no order, as an Array: for those that put them in an order of their own.
      def sums(key)
        summed(key).values
      end

      # The sites, those of start-up and of loading (Location#stage) each at a place of that name. What grew since a
      # baseline stays where it is: it may be a leak. grown: the keys of what grew.
      def staged(grown = grown_since)
        sites.map do |site|
          stage = site.location.stage
          stage && !grown.include?(site.key) ? site.class.new(STAGES[stage], *site.to_a.drop(1)) : site
        end
      end

      # The sites of loading.
      def loaded
        sites.select { |site| site.location.stage == "(loading)" }
      end

      # The keys of what grew since a baseline: a Set, which is empty without one. Growth is since the start then. base:
      # a collection of the same program, earlier; nil: the growth of the sites themselves.
      def grown_since(base = nil)
        require "set" # here, and not before each command: Ruby 3.2 and later need no such line
        return Set.new unless base || baseline?

        before = base ? base.by_key.transform_values(&:live_bytes) : {}
        by_key.select { |key, site| (base ? site.live_bytes - before.fetch(key, 0) : site.growth_bytes).positive? }
              .keys.to_set
      end

      # The sum of what was counted at a location, given as "app.rb:12" or "libxml2.so.2+0x1f30", over all libraries,
      # tags and classes; nil where nothing was.
      def [](location)
        found = sites.select { |site| site.location.to_s == location }
        sum(found) unless found.empty?
      end

      # Hash of key => site. Sites that differ in nothing printable (an evaluated line, evaluated again) are one.
      def by_key
        sites.group_by(&:key).transform_values { |same| sum(same) }
      end

      private

      # What each site counted beyond the same one of `other`. Sites where nothing happened are left out.
      def differences(other)
        before = other.by_key
        changed = by_key.map { |key, site| site.class.difference(site, before.delete(key)) }
        changed.concat(before.values.map { |site| site.class.difference(nil, site) })
        changed.reject(&:idle?)
      end

      # The sum of sites, which are at the first one's location.
      def sum(same)
        same.size == 1 ? same.first : same.first.class.sum(same, location: same.first.location)
      end

      # Hash of name => sum. There may be 100,000 names, most of one site: only the others get an Array meanwhile.
      def summed(key, names = nil)
        groups = self.class::GROUPS
        name_of = groups.fetch(key) { raise ArgumentError, "group by #{groups.keys.join(", ")}, not #{key}" }
        name_of = names.method(:[]) if names
        members = {}
        sites.each { |site| join(members, name_of.call(site), site) }
        members.each { |name, same| members[name] = group_sum(key, name, same) }
      end

      def join(members, name, site)
        same = members[name]
        return same << site if same.is_a?(Array)

        members[name] = same ? [same, site] : site
      end

      # A group of one place keeps its line and label; other groups have only a name.
      def group_sum(key, name, same)
        return same if self.class::PLACES.include?(key) && !same.is_a?(Array)

        members = same.is_a?(Array) ? same : [same]
        place = self.class::PLACES.include?(key) ? place_of(members) : nil
        members.first.class.sum(members, location: place || Location.new(special: name || UNNAMED.fetch(key)))
      end

      # Where the library's part lies that grew most; without the library where that is not more than half of what lives
      # (where nothing does: of what was allocated).
      def place_of(members)
        parts = members.group_by { |site| site.location.library }.values
        lead = parts.max_by { |part| part.sum(&:growth_bytes) }
        place = largest(lead).location
        figure = members.sum(&:live_bytes).zero? ? :bytes_allocated : :live_bytes
        lead.sum(&figure) > members.sum(&figure).div(2) || parts.one? ? place : place.without_library
      end

      def largest(members)
        members.max_by(&:growth_bytes)
      end
    end
  end
end
