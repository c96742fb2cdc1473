# frozen_string_literal: true

require_relative "../errors"
require_relative "../accounting/process_identity"

module Heapline
  module Processes
    # The pipe beside a process's flight file through which a twin of that process writes to this one. It has a name
    # only until it is opened at the other end.
    class TwinPipe
      # What the name adds to the flight file's, without ".flight".
      NAME = /\A#{Accounting::ProcessIdentity::STEM}\.(?<reader>\d{1,10})\.pipe\z/
      CHUNK = 1 << 20
      # How the last line of what a twin writes begins.
      LAST_LINE = '{"type":"HEAPLINE_END"'

      # path: of the flight file. Raises FlightError where no pipe can be made.
      def initialize(path)
        self.class.sweep(File.dirname(path))
        @path = self.class.path(path, Process.pid)
        File.mkfifo(@path, 0o600)
        @io = File.open(@path, File::RDONLY | File::NONBLOCK | File::NOFOLLOW)
        @io.chown(File.stat(File.dirname(path)).uid, nil) if Process.euid.zero? # whose process writes there
      rescue SystemCallError => e
        raise FlightError, "no pipe can be made beside #{path}: #{Error.reason(e)}"
      end

      # The path of the pipe at which `reader` (a pid) waits.
      def self.path(flight, reader)
        "#{flight.delete_suffix(".flight")}.#{reader}.pipe"
      end

      # Remove what readers left that were killed.
      def self.sweep(directory)
        Dir.children(directory).each do |name|
          reader = name[NAME, :reader] or next
          File.unlink(File.join(directory, name)) unless Accounting::ProcessIdentity.of(reader.to_i)&.alive?
        rescue SystemCallError
          next
        end
      end

      # It needs no name any more.
      def unlink
        File.unlink(@path)
      rescue Errno::ENOENT
        nil
      end

      # Yields its bytes (binary String) as they come, to the end. False where none came for `patience` seconds.
      def each_chunk(patience)
        buffer = String.new(capacity: CHUNK, encoding: Encoding::BINARY)
        while @io.wait_readable(patience)
          case @io.read_nonblock(CHUNK, buffer, exception: false)
          when nil then return true
          when String then yield buffer
          end
        end
        false
      end

      def close
        unlink
        @io.close
      end
    end

    # A copy of this process, made by fork, that reads itself and writes what it finds into a pipe. Needs no preload.
    module OwnTwin
      # Yields the lines (String) that the copy writes for `task` (see Native.twin), the last one too. collect: after a
      # full GC. Raises Error where no copy can be made, or it ends before its last line.
      def self.each_line(task, collect: false)
        reader, writer = IO.pipe(binmode: true)
        twin = Native.twin(task, writer.fileno, collect)
        writer.close
        last = ""
        reader.each_line { |line| yield last = line }
        raise Error, "the copy of this process ended before it was done" unless last.start_with?(TwinPipe::LAST_LINE)
      ensure
        [reader, writer].each { |io| io&.close }
        sleep 0.001 until !twin || Native.twin_gone? # nobody reads on: it ends, and the next copy can be made
      end
    end
  end
end
