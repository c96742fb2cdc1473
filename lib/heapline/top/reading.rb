# frozen_string_literal: true

require_relative "../processes/process_tree"
require_relative "../accounting/snapshot"

module Heapline
  module Top
    # What was read at one moment of a process, or of a process and those that were forked from it. Frozen; what is
    # computed from it is kept, since it is asked for again and again.
    class Reading
      # What the groups of Sites are called: of those that have not changed it is known from the reading before.
      class Names
        def initialize
          @known = {}
        end

        # Hash of Site => name (as in Snapshot#group_by).
        def of(by, sites)
          former = @known[by] || {}
          name_of = Accounting::Snapshot::GROUPS.fetch(by)
          @known[by] = sites.each_with_object({}.compare_by_identity) do |site, names|
            names[site] = former.fetch(site) { name_of.call(site) }
          end
        end
      end

      # What processes were when they were last read: one that has used no time of a processor since did nothing, and
      # is that still.
      class Last
        def initialize
          @read = {}
        end

        # used: nanoseconds of processor time, or nil: unknown
        def same?(key, used)
          !used.nil? && @read[key]&.first == used
        end

        # The Snapshot that the block reads; what it was last where that reads none.
        def take(key, used)
          snapshot = yield || @read[key].last.with(taken_at: Time.now)
          @read[key] = [used, snapshot]
          snapshot
        end

        # All others are forgotten.
        def keep(keys)
          @read = @read.slice(*keys)
        end
      end

      # snapshots:: of the process, and then of each of its descendants
      # rss_bytes:: of all of them; pages that they share count in each. nil where they are gone
      # at::        seconds of a steady clock
      # stopped::   is the process stopped (SIGSTOP, a debugger)?
      # ledger::    Ledger of the process, some seconds old; nil where there is none, or several processes are one
      attr_reader :snapshots, :rss_bytes, :at, :stopped, :ledger

      # names::     Names of the readings before, or nil
      def initialize(snapshots, at:, rss_bytes: nil, stopped: false, ledger: nil, names: nil)
        @snapshots = snapshots.freeze
        @rss_bytes = rss_bytes
        @at = at
        @stopped = stopped
        @ledger = ledger
        @names = names
        @known = {}
        freeze
      end

      # Snapshot of the process itself.
      def root
        snapshots.first
      end

      # Which processes these are: pids are used again, and exec begins anew.
      def members
        @known[:members] ||= snapshots.map { |snapshot| [snapshot.pid, snapshot.started_at] }
      end

      # One Snapshot with the sum of those of `members` that were read; nil where none was.
      def total(members = self.members)
        @known[[:total, members]] ||= merge(snapshots.select { |one| members.include?([one.pid, one.started_at]) })
      end

      # Later readings are measured against this one.
      def keep; end

      # Is it of another program than `former`, so that nothing is measured against that?
      def breaks?(former)
        root.started_at != former.root.started_at
      end

      # activity: Activity of which this is the newest reading.
      def rows(activity, by, within)
        grown = total.grown_since(activity.baseline&.total(members)) if by == :overview
        before, base = [activity.earlier, activity.baseline].map do |reading|
          reading ? reading.groups(by, within: within, members: members, grown: grown) : {}
        end
        groups(by, within: within, grown: grown).map do |name, site|
          activity.row(name, site, base[name]&.live_bytes || 0, before[name])
        end
      end

      # Live bytes at the watcher's baseline, of those that are still there.
      def base_live_bytes
        nil
      end

      # Groups of Ruby objects => their key in Objects.
      OBJECTS = { class: :class, object: :site }.freeze

      # Sums by :location, :gem, :file, :library or :tag, as Snapshot#group_by; by :class or :object (a class at a line)
      # of Ruby objects, none where they are not accounted; :overview, of which `grown` is what grew
      # (Snapshot#overview). within: [key, name], only the sites of that group.
      def groups(by, within: nil, members: self.members, grown: nil)
        @known[[by, within, members, grown]] ||= group(total(members), by, within, grown)
      end

      private

      def merge(parts)
        parts.size > 1 ? Processes::ProcessTree.merge(parts.first, parts.drop(1)) : parts.first
      end

      def group(snapshot, by, within, grown)
        return {} unless snapshot
        return snapshot.overview(grown).groups(:location) if by == :overview
        return group_objects(snapshot.objects, OBJECTS.fetch(by), within) if OBJECTS.key?(by)

        snapshot = snapshot.with(sites: members_of(snapshot, *within)) if within
        snapshot.groups(by, @names&.of(by, snapshot.sites))
      end

      def group_objects(objects, by, within)
        objects = Objects::Snapshot.new(members_of(objects, *within)) if objects && within
        objects ? objects.groups(by) : {}
      end

      def members_of(collection, key, name)
        collection.select { |site| collection.class::GROUPS.fetch(key).call(site) == name }
      end
    end
  end
end
