# frozen_string_literal: true

require_relative "../../accounting/flight"
require_relative "../../accounting/flight_directory"
require_relative "../../processes/process_tree"
require_relative "followed"

module Heapline
  module GrowthLog
    # Finds the flight files of the processes that are to be followed: those of the given pids, those of programs that
    # were started by `heapline` under one of these pids, and those that were forked from one that is followed.
    class Tree
      # directory: Accounting::FlightDirectory. pids: whom to follow (Integers).
      def initialize(directory, pids, settings)
        @directory = directory
        @roots = pids
        @tops = pids.to_h { |pid| [pid, Accounting::ProcessIdentity.of(pid)&.start_ticks] }
        @settings = settings
        @seen = {}
      end

      # Followed for each file that was not there before. followed: those of the last time.
      def discover(followed)
        headers = fresh.filter_map { |entry| look(entry) if entry.alive? }.to_h
        ours = headers.keys.select { |kin| @roots.include?(kin.pid) || under?(headers[kin]) }
        known = followed.map { |one| Processes::ProcessTree::Kin.new(one.pid, one.identity.start_ticks) }
        [*known, *ours].each { |one| ours |= Processes::ProcessTree.descendants(one, headers.keys) }
        ours.filter_map { |kin| follow(kin.entry) }
      rescue FlightError
        [] # the directory is gone, or closed to us for now
      end

      # Follow the process whose flight file this descriptor is: it may have ended, and the file be without a name.
      def adopt(io)
        followed = Followed.new(io, @settings)
        @seen[[File.join(@directory.path, followed.file_name), io.stat.ino]] = true
        followed
      end

      private

      # Entries whose files were not there the last time.
      def fresh
        entries = @directory.entries.map { |entry| [entry, [entry.path, entry.inode]] }
        found = entries.reject { |_, key| @seen.key?(key) }
        @seen = entries.to_h { |_, key| [key, true] }
        found.map(&:first)
      end

      # [ProcessTree::Kin, header], or nil.
      def look(entry)
        header = Accounting::Flight.header(entry.path)
        return [Processes::ProcessTree::Kin.of(entry, header), header] if header[:state] != :forked

        @seen.delete([entry.path, entry.inode]) # it was asked to take over
        nil
      rescue FlightError
        nil
      end

      # Followed, or nil where it has just gone.
      def follow(entry)
        io = File.open(entry.path, File::RDONLY | File::NOFOLLOW | File::NONBLOCK)
        Followed.new(io, @settings)
      rescue SystemCallError, FlightError
        io&.close
        nil
      end

      # Was its program started under one of the processes that have these pids now?
      def under?(header)
        top = Accounting::FlightHeader.pids(header)[:top]
        @roots.include?(top) && (header[:top_ticks].zero? || [nil, header[:top_ticks]].include?(@tops[top]))
      end
    end
  end
end
