# frozen_string_literal: true

require_relative "line"

module Heapline
  module GrowthLog
    # Writes lines to files by name: `%p` in it is the pid that the line is about, `%h` this host, `%%` a `%`.
    #
    # The file is opened anew for each line, so that one that was renamed, removed or whose directory came back is found
    # as it is now. Each line is one write at the end. Where only a part of it found room, the next line begins on a new
    # one: a reader loses what was torn and no more.
    #
    # A file that has half of `max` is renamed to FILE.1, and the FILE.1 of before is gone: both together stay below
    # `max`. Where it cannot be renamed, or somebody else holds a lock on it, lines are dropped once it has reached
    # `max`.
    class Files
      MAX = 100_000_000
      FLAGS = File::WRONLY | File::APPEND | File::CREAT | File::NOFOLLOW | File::NONBLOCK | File::NOCTTY

      # max: bytes of a file and its FILE.1; 0: no bound. err: where the first trouble is said.
      def initialize(name, max: nil, err: $stderr)
        @name = name
        @max = max || MAX
        @err = err
        @said = false
      end

      # Append a line about process `pid`. false where it could not be written: it is lost.
      def write(pid, line)
        path = path(pid)
        make_room(path, line.bytesize) if @max.positive?
        File.open(path, FLAGS, 0o600) { |file| append(file, path, line) }
        true
      rescue SystemCallError, IOError => e
        say(path, e)
        false
      end

      # The file for process `pid`.
      def path(pid)
        @name.gsub(/%[ph%]/, "%p" => pid.to_s, "%h" => Line::HOST.tr("/", "_"), "%%" => "%")
      end

      # The directory of that file.
      def directory(pid)
        File.dirname(path(pid))
      end

      # Is there any use in going on?
      def open?
        true
      end

      private

      def make_room(path, bytes)
        raise Errno::EFBIG if bytes > @max / 2
        return unless full?(path, bytes, @max / 2)

        raise Errno::EFBIG if !set_aside(path, bytes) && full?(path, bytes, @max)
      end

      def full?(file, bytes, limit)
        (size = File.size?(file)) && size + bytes > limit
      end

      # Another companion may be about to do the same.
      def set_aside(path, bytes)
        File.open(path, File::RDONLY | File::NOFOLLOW | File::NONBLOCK) do |file|
          return false unless locked?(file)
          return true unless File.identical?(file, path) && full?(file, bytes, @max / 2)

          File.rename(path, "#{path}.1")
        end
        true
      rescue SystemCallError
        false
      end

      # Another companion is done in no time; a lock of somebody else's must not stop the log.
      def locked?(file)
        20.times.any? { |i| file.flock(File::LOCK_EX | File::LOCK_NB) || (sleep(i / 1000.0) && nil) }
      end

      def append(file, path, line)
        line = "\n#{line}" if torn?(file, path)
        raise Errno::ENOSPC unless file.syswrite(line) == line.bytesize
      end

      # Does the file end amid a line? There is nothing to read where it has just been renamed.
      def torn?(file, path)
        status = file.stat
        status.file? && status.size.positive? && [nil, "\n"].none?(File.binread(path, 1, status.size - 1))
      rescue SystemCallError
        false
      end

      def say(path, error)
        return if @said

        @said = true
        @err.puts "heapline: the growth log cannot be written to #{Inert.text(path)}: " \
                  "#{error.class.new.message}; lines are dropped until it can"
      rescue SystemCallError, IOError
        nil # nobody listens
      end
    end

    # Writes lines to an IO that stays open, such as standard output. A reader that has gone ends the log (EPIPE).
    class Stream
      def initialize(io)
        @io = io
      end

      def write(_pid, line)
        @io.write(line)
        @io.flush
        true
      end

      # Is there any use in going on?
      def open?
        true
      end

      # No file stands for a directory here.
      def directory(_pid); end
    end

    # Writes lines to a pipe whose reader may be slow or hang: never waits. A line that found room for its beginning is
    # brought to its end before the next one; until then further lines are lost.
    class Pipe
      def initialize(io)
        @io = io
        @rest = ""
        @open = true
      end

      # Has nobody closed the other end?
      def open?
        flush
        @open
      end

      # false: the line is lost.
      def write(_pid, line)
        return false unless flush

        @rest = line.b
        flush
        @open
      end

      # No file stands for a directory here.
      def directory(_pid); end

      private

      # Is nothing left to write?
      def flush
        @rest = @rest.byteslice(@io.write_nonblock(@rest)..) until @rest.empty?
        true
      rescue IO::WaitWritable
        false
      rescue SystemCallError
        @open = false
      end
    end
  end
end
