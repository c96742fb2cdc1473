# frozen_string_literal: true

require_relative "../processes/process_list"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../processes/process_tree"

module Heapline
  module Web
    # Which processes may be looked at, and their figures. Either all that this user has under accounting, or those of
    # the tree of forks that this process belongs to (`own: true`): an application shows itself, not its neighbours.
    class Processes
      def initialize(own: false, directory: Accounting::FlightDirectory.new)
        @own = own
        @directory = directory
        freeze
      end

      # The pid that is meant where none is named; nil where it must be.
      def default
        Process.pid if @own
      end

      # The pid of the process that all of this tree were forked from; nil where there is no such tree.
      def root
        return unless @own

        all = kin
        own = all.find { |one| one.pid == Process.pid }
        own ? Heapline::Processes::ProcessTree.root(own, all).pid : Process.pid
      end

      # Entries (Accounting::FlightDirectory::Entry) of all that may be looked at, the newest first.
      def entries
        return newest unless @own

        pids = living
        newest.select { |entry| pids.include?(entry.pid) && entry.alive? }
      end

      # One Processes::KnownProcess for each of them.
      def rows
        Heapline::Processes::KnownProcess.all(entries)
      end

      # The directory of flight files.
      def place
        @directory.path
      end

      # The Snapshot of one process; wanted: what is enough of it (Accounting::Flight::Wanted). Raises FlightError where
      # it may not be looked at or has no figures.
      def snapshot(pid, wanted: nil)
        return ownself(wanted) if @own && pid == Process.pid

        entry = entries.find { |candidate| candidate.pid == pid }
        raise FlightError, unknown(pid) unless entry

        Accounting::Flight.read(entry.path, wanted: wanted)
      end

      # The Snapshot of a process and all that were forked from it.
      def tree(pid)
        others = descendants(pid).lazy.filter_map { |one| readable(one) }
        Accounting::Flight.together { Heapline::Processes::ProcessTree.merge(snapshot(pid), others) }
      end

      # Snapshots of those that run: with a pid of it and its descendants, else of all.
      def running(pid = nil, wanted: nil)
        pids = pid ? family(pid) : living
        snapshots = Accounting::Flight.together { pids.filter_map { |one| readable(one, wanted: wanted) } }
        snapshots.select { |snapshot| snapshot.state == :running }
      end

      private

      def ownself(wanted)
        require "heapline"
        Heapline.snapshot(wanted: wanted)
      end

      # One entry a pid: its own process's before one of an earlier process with the same pid.
      def newest
        @directory.entries.group_by(&:pid).map { |_, same| same.min_by { |entry| entry.alive? ? 0 : 1 } }
      end

      # Pids of those that run. This process is one of its own tree even where it could not make a file.
      def living
        @own ? family(root) : newest.select(&:alive?).map(&:pid)
      end

      # A process that ends while it is looked at, or a damaged file, hides no other.
      def readable(pid, wanted: nil)
        snapshot(pid, wanted: wanted)
      rescue FlightError
        nil
      end

      # ProcessTree::Kin of the living.
      def kin
        newest.select(&:alive?).filter_map do |entry|
          Heapline::Processes::ProcessTree::Kin.of(entry, Accounting::Flight.header(entry.path))
        rescue FlightError
          next
        end
      end

      def family(pid)
        [pid, *descendants(pid)]
      end

      # Pids of the living that were forked from `pid`, or from those, the nearest first.
      def descendants(pid)
        all = kin
        own = all.find { |one| one.pid == pid }
        own ? Heapline::Processes::ProcessTree.descendants(own, all).map(&:pid) : []
      end

      def unknown(pid)
        where = @own ? "among those of this application" : "in #{@directory.path}"
        "there is no process #{pid} that heapline counts #{where}"
      end
    end
  end
end
