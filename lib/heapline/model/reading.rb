# frozen_string_literal: true

require_relative "process_tree"
require_relative "snapshot"

module Heapline
  module Model
    # What was read at one moment of a process, or of a process and those that were forked from it. Frozen; what is
    # computed from it is kept, since it is asked for again and again.
    class Reading
      # snapshots:: of the process, and then of each of its descendants
      # rss_bytes:: of all of them; pages that they share count in each. nil where they are gone
      # at::        seconds of a steady clock
      # stopped::   is the process stopped (SIGSTOP, a debugger)?
      # ledger::    Ledger of the process, some seconds old; nil where there is none, or several processes are one
      attr_reader :snapshots, :rss_bytes, :at, :stopped, :ledger

      def initialize(snapshots, at:, rss_bytes: nil, stopped: false, ledger: nil)
        @snapshots = snapshots.freeze
        @rss_bytes = rss_bytes
        @at = at
        @stopped = stopped
        @ledger = ledger
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

      # Groups of Ruby objects => their key in Objects.
      OBJECTS = { class: :class, object: :site }.freeze

      # Sums by :location, :gem, :file, :library or :tag, as Snapshot#group_by; by :class or :object (a class at a line)
      # of Ruby objects, none where they are not accounted. within: [key, name], only the sites of that group.
      def groups(by, within: nil, members: self.members)
        @known[[by, within, members]] ||= group(total(members), by, within)
      end

      private

      def merge(parts)
        parts.size > 1 ? ProcessTree.merge(parts.first, parts.drop(1)) : parts.first
      end

      def group(snapshot, by, within)
        return {} unless snapshot
        return group_objects(snapshot.objects, OBJECTS.fetch(by), within) if OBJECTS.key?(by)

        snapshot = snapshot.with(sites: members_of(snapshot, *within)) if within
        snapshot.group_by(by)
      end

      def group_objects(objects, by, within)
        objects = Objects.new(members_of(objects, *within)) if objects && within
        objects ? objects.group_by(by) : {}
      end

      def members_of(collection, key, name)
        collection.select { |site| collection.class::GROUPS.fetch(key).call(site) == name }
      end
    end
  end
end
