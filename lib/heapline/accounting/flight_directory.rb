# frozen_string_literal: true

require_relative "../errors"
require_relative "process_identity"

module Heapline
  module Accounting
    # Where flight files lie, and which process each belongs to. Only reads the directory, but for `remove` and `prune`.
    #
    # A process that is named and has its files elsewhere (another user's, whom root looks at; one with another
    # HEAPLINE_DIR) is found by what it has mapped; from then on that directory's entries are among these.
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
      # Locked by the companion that writes the growth log of this process's tree.
      MARK = /\A#{ProcessIdentity::STEM}\.companion\z/
      # A mapping that may be a flight's, in /proc/PID/maps: made without a name, and named later.
      PLACE = %r{ (?<place>/\S+)/(?:#\d+ \(deleted\)|#{ProcessIdentity::STEM}\.flight)$}
      # What dead processes may leave: files, bytes in all, and seconds since the last change.
      KEPT_FILES = 100
      KEPT_BYTES = 256 * 1024 * 1024
      KEPT_SECONDS = 7 * 24 * 3600
      SHOWN = 5 # of those that run, where another was asked for

      attr_reader :path

      # HEAPLINE_DIR, else $XDG_RUNTIME_DIR/heapline, else /dev/shm/heapline-UID. A relative path is no directory
      # for the core and therefore not for the readers.
      def initialize(env = ENV)
        @path = choose(env)
        @elsewhere = []
        freeze
      end

      def exist?
        File.directory?(path)
      end

      # What keeps the core from putting files there, and what to do: two texts; nil: nothing, unless there is no room.
      def trouble
        unusable(File.lstat(path))
      rescue SystemCallError
        missing
      end

      # Entries, the newest first. A directory that does not exist has none.
      def entries
        all = [path, *@elsewhere].flat_map { |place| names(place).filter_map { |name| entry(place, name) } }
        all.sort_by { |entry| [-entry.changed_at.to_f, entry.path] }
      end

      # The newest entry of the process, its own before one of an earlier process with the same pid; nil without any.
      def find(pid)
        found = known(pid)
        return found if found&.alive? || !look_elsewhere(pid)

        known(pid)
      end

      # The same, or a FlightError that says where there is none, and which there are.
      def fetch(pid)
        find(pid) || raise(FlightError, "#{unknown(pid)}; `heapline ps` lists the counted processes#{some_that_run}")
      end

      # Pids of some processes that run and are counted.
      def counted
        entries.lazy.select { |entry| entry.alive? && counted?(entry) }.map(&:pid).first(SHOWN)
      end

      # Have the files of processes in containers, which see other files than this command, among the entries.
      def look_into_containers
        own = File.stat("/proc/self/ns/mnt").ino
        pids = Dir.children("/proc").grep(/\A\d+\z/)
        pids.each { |pid| look_elsewhere(pid) if mount_namespace(pid).then { |one| one && one != own } }
      rescue SystemCallError
        nil # without /proc
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
        found = entries
        found = surplus(found, now).empty? ? [] : found.select(&:dead?) # 45 µs each, before each `heapline CMD`
        remove_marks
        surplus(found, now).count { |entry| remove(entry) }
      rescue SystemCallError, FlightError
        0
      end

      # Remove the marks of companions (docs/growth-log.md) that have ended: where the process is gone, and nobody holds
      # the lock.
      def remove_marks
        Dir.children(path).each do |name|
          process = ProcessIdentity.of_stem(name.match(MARK) || next)
          unlink_unlocked(File.join(path, name)) unless process.alive?
        end
      rescue SystemCallError
        nil # they are empty
      end

      private

      def unusable(status)
        elsewhere = "set HEAPLINE_DIR to a directory of yours"
        return ["#{path} is no directory", "remove it, or #{elsewhere}"] unless status.directory?
        return ["#{path} belongs to user #{status.uid}", elsewhere] unless status.owned?
        return ["others may write in #{path}", "chmod 700 #{path}"] if status.mode.anybits?(0o022)

        ["#{path} cannot be written to", "chmod 700 #{path}, or #{elsewhere}"] unless File.writable?(path)
      end

      # The core makes the last part of the path only.
      def missing
        parent = File.dirname(path)
        return if File.directory?(parent) && File.writable?(parent)

        ["#{path} does not exist and cannot be made: #{parent} is missing or read-only",
         "make it, or set HEAPLINE_DIR to a directory of yours on a tmpfs"]
      end

      # Those that are beyond the bounds, the newest first as all are.
      def surplus(entries, now)
        kept = bytes = 0
        entries.select do |entry|
          kept += 1
          bytes += entry.bytes
          kept > KEPT_FILES || bytes > KEPT_BYTES || now - entry.changed_at > KEPT_SECONDS
        end
      end

      def unlink_unlocked(mark)
        File.open(mark, File::RDWR | File::NOFOLLOW) do |file|
          File.unlink(mark) if file.flock(File::LOCK_EX | File::LOCK_NB)
        end
      end

      def known(pid)
        entries.select { |entry| entry.pid == pid }.min_by { |entry| entry.alive? ? 0 : 1 }
      end

      # The directories of the files that it has mapped and that lost their names, or have a flight file's. Only what
      # belongs to the process's own user is trusted, and what nobody else can write to. true: there is one more.
      def look_elsewhere(pid)
        mapped = File.foreach("/proc/#{pid}/maps", encoding: Encoding::BINARY).filter_map { |line| line[PLACE, :place] }
        user = File.stat("/proc/#{pid}").uid
        known = [path, *@elsewhere].map { |place| identity(place) }
        fresh = mapped.uniq.filter_map { |place| fresh_place(pid, place, user, known) }
        @elsewhere.concat(fresh)
        fresh.any?
      rescue SystemCallError, FlightError
        false
      end

      # Path of the directory from here, nil if it is known already, not trusted, or has no files. A process in a
      # container sees other files; which directory it is, its device and inode say. known: those that are.
      def fresh_place(pid, place, user, known)
        status = File.lstat(there = "/proc/#{pid}/root#{place}")
        found = [status.dev, status.ino]
        return if known.include?(found) || !trusted?(status, user)

        place = there unless identity(place) == found
        return if names(place).empty?

        known << found
        place
      end

      # nil: there is none.
      def identity(place)
        status = File.stat(place)
        [status.dev, status.ino]
      rescue SystemCallError
        nil
      end

      # nil: it is gone, or somebody else's.
      def mount_namespace(pid)
        File.stat("/proc/#{pid}/ns/mnt").ino
      rescue SystemCallError
        nil
      end

      def trusted?(status, user)
        status.directory? && status.uid == user && status.mode.nobits?(0o022)
      end

      def unknown(pid)
        none = "no flight file in #{path}"
        return "there is no process #{pid}, and #{none} of one that ended" unless File.exist?("/proc/#{pid}")

        "process #{pid} is not counted (#{none}): it runs without heapline (`heapline attach #{pid}` starts counting " \
          "now), or with another HEAPLINE_DIR or user"
      end

      # In one that was detached from nothing is counted any more. What cannot be read says nothing of that.
      def counted?(entry)
        require_relative "flight" # not before each program that heapline becomes
        Flight.header(entry.path)[:stopped_ns].zero?
      rescue FlightError
        true
      end

      def some_that_run
        pids = counted
        pids.empty? ? "" : ", such as #{pids.join(", ")}"
      end

      def choose(env)
        given = env["HEAPLINE_DIR"]
        runtime = env["XDG_RUNTIME_DIR"]
        return given if given&.start_with?("/")
        return File.join(runtime, "heapline") if runtime&.start_with?("/")

        "/dev/shm/heapline-#{Process.euid}"
      end

      def names(place)
        Dir.children(place).grep(NAME)
      rescue Errno::ENOENT, Errno::ENOTDIR
        []
      rescue SystemCallError => e
        raise FlightError, "flight directory #{place} cannot be read: #{Error.reason(e)}"
      end

      def entry(place, name)
        file = File.join(place, name)
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
