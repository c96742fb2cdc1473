# frozen_string_literal: true

require_relative "../accounting/flight_header"
require_relative "../accounting/snapshot"

module Heapline
  module Processes
    # A process and the processes that were forked from it, as one snapshot.
    #
    # A forked child begins with its parent's counts: its memory is the parent's, copied only when written to. So the
    # parent counts in full, and each child only with what it has allocated since its fork (or its last baseline) and
    # what of that it still holds. Frees of inherited blocks change nothing: the parent holds them still.
    module ProcessTree
      # What adds up of the processes themselves.
      SUMS = %i[threads own_bytes flight_bytes moved_bytes].freeze

      # A process by its place in the tree, and its FlightDirectory::Entry. Pids are as they are called here.
      Kin = Struct.new(:pid, :start_ticks, :forked_from, :forked_from_ticks, :entry) do
        # header: of the entry's file (Flight.header).
        def self.of(entry, header)
          new(entry.pid, entry.process.start_ticks, Accounting::FlightHeader.pids(header)[:forked_from],
              header[:forked_from_ticks], entry)
        end
      end

      # One Snapshot with the sum of `root` and `children`, each of which is asked for once and then let go of, so that
      # their number costs no memory. peak_bytes is nil: peaks of several processes do not add up.
      def self.merge(root, children)
        sites = added({}, root.sites)
        objects = root.objects && added({}, root.objects)
        all = [without_sites(root)]
        children.each do |child|
          added(sites, child.lazy.select { |site| own?(site) }.map { |site| own_of(site) })
          objects = added(objects || {}, child.objects.lazy.filter_map(&:own)) if child.objects
          all << without_sites(child)
        end
        together(root, all).with(sites: sites.values, objects: objects && Objects::Snapshot.new(objects.values))
      end

      # From where the growth of these together counts, the first one's own: as Snapshot#baseline_kind, or :each where
      # one of several has had a baseline, so that it is of no one moment.
      def self.baseline_kind(snapshots)
        several = snapshots.size > 1 && snapshots.any? { |one| one.baseline_kind == :clear }
        several ? :each : snapshots.first.baseline_kind
      end

      # Those of `snapshots` that descend from `root` by forks, nearest first; Kin will do, too. With its ticks a
      # process is no earlier or later one with the same pid.
      def self.descendants(root, snapshots)
        forked = snapshots.group_by { |one| [one.forked_from, one.forked_from_ticks] }
        found = [root]
        found.each { |parent| found.concat(forked.delete([parent.pid, parent.start_ticks]).to_a - [root]) }
        found.drop(1)
      end

      # The one of `snapshots` from which `one` descends by forks, and which itself was forked from none of them.
      def self.root(one, snapshots)
        came_from = [one.forked_from, one.forked_from_ticks]
        parent = snapshots.find { |other| came_from == [other.pid, other.start_ticks] }
        parent ? root(parent, snapshots - [one]) : one
      end

      # Add sites to a Hash of those that there are by key.
      def self.added(sums, sites)
        sites.each do |site|
          key = site.key
          former = sums[key]
          sums[key] = former ? site.class.sum([former, site], location: former.location) : site
        end
        sums
      end

      def self.without_sites(snapshot)
        snapshot.with(sites: [], objects: nil)
      end

      # What is known of the processes themselves.
      def self.together(root, all)
        kind = baseline_kind(all)
        root.with(sites: [], peak_bytes: nil, peak_at: nil, merged: all.size - 1, baseline_kind: kind,
                  baseline_at: (root.baseline_at unless kind == :each), gc_count: gc_count(all),
                  failures: failures(all), **SUMS.to_h { |field| [field, sum(all, field)] })
      end

      # Did a child do anything here since its fork? Most of the sites that it inherited it never comes back to.
      def self.own?(site)
        !(site.since_allocations.zero? && site.retained_bytes.zero? && site.retained_blocks.zero?)
      end

      # What a child did since its fork.
      def self.own_of(site)
        calls = site.since_allocations
        bytes = site.since_bytes_allocated
        still = { live_bytes: site.retained_bytes, live_blocks: site.retained_blocks,
                  growth_bytes: site.retained_bytes, growth_blocks: site.retained_blocks,
                  retained_bytes: site.retained_bytes, retained_blocks: site.retained_blocks }
        done = { allocations: calls, bytes_allocated: bytes, frees: calls - site.retained_blocks,
                 bytes_freed: bytes - site.retained_bytes, since_allocations: calls, since_bytes_allocated: bytes }
        Accounting::Site.new(location: site.location, kind: site.kind, tag: site.tag, **Accounting::Site::ZERO,
                             **still, **done,
                             **lifespans(site, done[:frees]))
      end

      # How long the blocks lived that were freed since the fork is known of inherited and own ones together: the own
      # ones get their share by number.
      def self.lifespans(site, own)
        all = site.since_allocations - site.growth_blocks
        return {} if all.zero?

        share = ->(figure) { site[figure] * own / all }
        { age_sum: share[:since_age_sum], age_ms_sum: share[:since_age_ms_sum], temporary: share[:since_temporary],
          age_max: site.age_max, age_ms_max: site.age_ms_max }
      end

      # nil: no Ruby runs in any of them.
      def self.gc_count(snapshots)
        sum(snapshots, :gc_count) if snapshots.any?(&:gc_count)
      end

      def self.sum(snapshots, field)
        snapshots.sum { |snapshot| snapshot.public_send(field) || 0 }
      end

      def self.failures(snapshots)
        based = snapshots.drop(1).count { |child| child.baseline_kind == :clear }
        all = snapshots.map(&:failures).reduce({}) { |sum, one| sum.merge(one) { |_, a, b| a + b } }
        based.zero? ? all : all.merge(based_children: based)
      end
      private_class_method :added, :without_sites, :together, :own?, :own_of, :lifespans, :gc_count, :sum, :failures
    end
  end
end
