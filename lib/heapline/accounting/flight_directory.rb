# frozen_string_literal: true

require_relative "../errors"
require_relative "process_identity"

module Heapline
  module Accounting
    # Where flight files lie, and which process each belongs to. Only reads the directory, but for `remove` and `prune`.
    class FlightDirectory
      # One file: its path and inode, the process (ProcessIdentity), the time of its last change and the bytes that it
      # takes.
      Entry = Struct.new(:path, :inode, :process, :changed_at, :bytes, keyword_init: true) do
        # As it is called here.
        def pid
          process.pid_here || process.pid
        end

        def alive?
          process.alive?
        end

        # Did it end? Of a process that cannot be seen from here nobody knows.
        def dead?
          !alive? && !process.out_of_sight?
        end
      end

      NAME = /\A#{ProcessIdentity::STEM}\.flight\z/
      # What dead processes may leave: files, bytes in all, and seconds since the last change.
      KEPT_FILES = 100
      KEPT_BYTES = 256 * 1024 * 1024
      KEPT_SECONDS = 7 * 24 * 3600
      # So many files are looked at; the rest is said to be there.
      LIMIT = 1000
      SHOWN = 5 # of those that run, where another was asked for

      attr_reader :path

      # HEAPLINE_DIR, else $XDG_RUNTIME_DIR/heapline, else /dev/shm/heapline-UID. A relative path is no directory
      # for the core and therefore not for the readers.
      def initialize(env = ENV)
        @path = choose(env)
        freeze
      end

      def exist?
        File.directory?(path)
      end

      # Entries, the newest first, at most `limit`. A directory that does not exist has none.
      def entries(limit: LIMIT)
        names.filter_map { |name| entry(name) }.sort_by { |entry| [-entry.changed_at.to_f, entry.path] }.first(limit)
      end

      # The newest entry of the process, its own before one of an earlier process with the same pid; nil without any.
      def find(pid)
        entries.select { |entry| entry.pid == pid }.min_by { |entry| entry.alive? ? 0 : 1 }
      end

      # The same, or a FlightError that says where there is none, and which there are.
      def fetch(pid)
        find(pid) || raise(FlightError, "#{unknown(pid)}; `heapline ps` lists those that have one#{some_that_run}")
      end

      # Remove the file of a dead process. False where it is gone already.
      def remove(entry)
        File.unlink(entry.path)
        true
      rescue Errno::ENOENT
        false
      end

      # Remove what dead processes left beyond the bounds above, the oldest first; files that cannot be removed stay.
      # Returns the number of files removed.
      def prune(now: Time.now)
        kept = bytes = 0
        surplus = entries.select(&:dead?).select do |entry|
          kept += 1
          bytes += entry.bytes
          kept > KEPT_FILES || bytes > KEPT_BYTES || now - entry.changed_at > KEPT_SECONDS
        end
        surplus.count { |entry| remove(entry) }
      rescue SystemCallError, FlightError
        0
      end

      private

      def unknown(pid)
        none = "process #{pid} has no flight file in #{path}"
        return "#{none}, and there is no such process" unless File.exist?("/proc/#{pid}")

        "#{none}: it runs without heapline (`heapline attach #{pid}` starts counting now), or has another " \
          "HEAPLINE_DIR or user"
      end

      def some_that_run
        pids = entries.lazy.select(&:alive?).map(&:pid).first(SHOWN)
        pids.empty? ? "" : ", as #{pids.join(", ")}"
      end

      def choose(env)
        given = env["HEAPLINE_DIR"]
        runtime = env["XDG_RUNTIME_DIR"]
        return given if given&.start_with?("/")
        return File.join(runtime, "heapline") if runtime&.start_with?("/")

        "/dev/shm/heapline-#{Process.euid}"
      end

      def names
        Dir.children(path).grep(NAME)
      rescue Errno::ENOENT, Errno::ENOTDIR
        []
      rescue SystemCallError => e
        raise FlightError, "flight directory #{path} cannot be read: #{Error.reason(e)}"
      end

      def entry(name)
        file = File.join(path, name)
        status = File.lstat(file)
        return nil unless status.file?

        Entry.new(path: file, inode: status.ino, process: ProcessIdentity.of_stem(name.match(NAME)),
                  changed_at: status.mtime, bytes: status.blocks * 512)
      rescue Errno::ENOENT
        nil
      end
    end
  end
end
