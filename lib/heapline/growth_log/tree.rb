# frozen_string_literal: true

require_relative "../model/flight"
require_relative "../model/flight_directory"
require_relative "followed"

module Heapline
  module GrowthLog
    # Finds the flight files of the processes that are to be followed: those of the given pids, those of programs that
    # were started by `heapline` under one of these pids, and those that were forked from one that is followed.
    class Tree
      # directory: Model::FlightDirectory. pids: whom to follow (Integers).
      def initialize(directory, pids, settings)
        @directory = directory
        @roots = pids
        @settings = settings
        @seen = {}
      end

      # Followed for each file that was not there before. followed: those of the last time.
      def discover(followed)
        pids = @roots + followed.map(&:pid)
        entries = @directory.entries.map { |entry| [entry, [entry.path, entry.inode]] }
        fresh = entries.reject { |_, key| @seen.key?(key) }
        @seen = entries.to_h { |_, key| [key, true] }
        fresh.filter_map { |entry, _| take(entry.path, pids) if entry.alive? }
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

      # Followed where the file at `path` is one of ours, else nil.
      def take(path, pids)
        io = File.open(path, File::RDONLY | File::NOFOLLOW | File::NONBLOCK)
        return Followed.new(io, @settings) if ours?(Model::Flight.header(io.fileno), pids)

        io.close
        nil
      rescue SystemCallError, FlightError
        io&.close
        nil
      end

      def ours?(header, pids)
        pids.include?(header[:pid]) || pids.include?(header[:forked_from]) || @roots.include?(header[:top])
      end
    end
  end
end
