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
      # A process by its place in the tree, and its FlightDirectory::Entry. Pids are as they are called here.
      Kin = Struct.new(:pid, :start_ticks, :forked_from, :forked_from_ticks, :entry) do
        # header: of the entry's file (Flight.header).
        def self.of(entry, header)
          new(entry.pid, entry.process.start_ticks, Accounting::FlightHeader.pids(header)[:forked_from],
              header[:forked_from_ticks], entry)
        end
      end

      # One Snapshot with the sum of `root` and `children`. peak_bytes is nil: peaks of several processes do not add up.
      def self.merge(root, children)
        kind = baseline_kind([root, *children])
        own = children.flat_map { |child| child.select { |site| own?(site) }.map { |site| own_of(site) } }
        root.with(sites: added(root.sites + own), objects: objects(root, children), peak_bytes: nil, peak_at: nil,
                  merged: children.size, baseline_kind: kind, baseline_at: (root.baseline_at unless kind == :each),
                  threads: sum([root, *children], :threads), gc_count: gc_count([root, *children]),
                  own_bytes: sum([root, *children], :own_bytes), flight_bytes: sum([root, *children], :flight_bytes),
                  moved_bytes: sum([root, *children], :moved_bytes), failures: failures([root, *children]))
      end

      # From where the growth of these together counts, the first one's own: as Snapshot#baseline_kind, or :each where
      # one of several has had a baseline, so that it is of no one moment.
      def self.baseline_kind(snapshots)
        several = snapshots.size > 1 && snapshots.any? { |one| one.baseline_kind == :clear }
        several ? :each : snapshots.first.baseline_kind
      end

      # Those of `snapshots` that descend from `root` by forks, nearest first; Kin will do, too.
      def self.descendants(root, snapshots)
        found = [root]
        found.each { |parent| found.concat(snapshots.select { |one| child?(one, parent) } - found) }
        found.drop(1)
      end

      # The one of `snapshots` from which `one` descends by forks, and which itself was forked from none of them.
      def self.root(one, snapshots)
        parent = snapshots.find { |other| child?(one, other) }
        parent ? root(parent, snapshots - [one]) : one
      end

      # Was it forked from that process? Not from an earlier or later one with the same pid.
      def self.child?(one, parent)
        one.forked_from == parent.pid && one.forked_from_ticks == parent.start_ticks
      end

      # Those that have the same key as one.
      def self.added(sites)
        sites.group_by(&:key).values.map do |same|
          same.size == 1 ? same.first : same.first.class.sum(same, location: same.first.location)
        end
      end

      # The same of Ruby objects. A child whose parent did not account them may do so.
      def self.objects(root, children)
        return nil if [root, *children].none?(&:objects)

        own = children.flat_map { |child| child.objects.to_a.filter_map(&:own) }
        Objects::Snapshot.new(added(root.objects.to_a + own))
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
      private_class_method :child?, :added, :objects, :own?, :own_of, :lifespans, :gc_count, :sum, :failures
    end
  end
end
