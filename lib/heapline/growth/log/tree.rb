# frozen_string_literal: true

require_relative "../../accounting/flight"
require_relative "../../accounting/flight_directory"
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
        known = followed.map(&:identity)
        entries = @directory.entries.map { |entry| [entry, [entry.path, entry.inode]] }
        fresh = entries.reject { |_, key| @seen.key?(key) }
        @seen = entries.to_h { |_, key| [key, true] }
        fresh.filter_map { |entry, _| take(entry, known) if entry.alive? }
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

      # Followed where the entry's file is one of ours, else nil.
      def take(entry, known)
        io = File.open(entry.path, File::RDONLY | File::NOFOLLOW | File::NONBLOCK)
        header = Accounting::Flight.header(io.fileno)
        return Followed.new(io, @settings) if header[:state] != :forked && ours?(entry, header, known)

        io.close
        @seen.delete([entry.path, entry.inode]) if header[:state] == :forked # it was asked to take over
        nil
      rescue SystemCallError, FlightError
        io&.close
        nil
      end

      def ours?(entry, header, known)
        parent = header.values_at(:forked_from, :forked_from_ticks)
        @roots.include?(entry.pid) || known.any? { |one| parent == [one.pid, one.start_ticks] } ||
          @roots.any? { |pid| under?(pid, header) }
      end

      # Was its program started under the process that has this pid now?
      def under?(pid, header)
        header[:top] == pid && (header[:top_ticks].zero? || [nil, header[:top_ticks]].include?(@tops[pid]))
      end
    end
  end
end
