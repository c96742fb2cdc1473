# frozen_string_literal: true

require "fcntl"
require_relative "../errors"

module Heapline
  # @api private
  module Files
    # What is written to a file. That of -o names files and methods of a program: it is its owner's alone (0600), and a
    # reader sees the former file or the whole new one.
    module OutputFile
      # Names of descriptors that this process has: what they are is their owner's choice, also a pipe.
      STREAMS = { "/dev/stdin" => 0, "/dev/stdout" => 1, "/dev/stderr" => 2 }.freeze
      DESCRIPTOR = %r{\A(?:/dev|/proc/self)/fd/(\d{1,7})\z}
      # A pipe without a reader, a modem without a line: opening them waits for ever.
      FLAGS = File::WRONLY | File::CREAT | File::TRUNC | File::NONBLOCK | File::NOCTTY | File::BINARY
      # The quickest level: a dump is packed while a copy of the process waits.
      GZIP_LEVEL = 1
      ZSTD = %w[zstd --quiet --stdout -T0].freeze

      # Yields an IO for `path`. A device, a link or a descriptor (/dev/fd/N) that stands there is written through;
      # anything else is replaced once all is written. Raises Error where that cannot be, and Errno::EPIPE where the
      # reader of a pipe has gone: the command then ends without a word, as it does on standard output.
      def self.write(path, &)
        check(path)
        return to_descriptor(descriptor(path), &) if descriptor(path)

        replaceable?(path) ? replace(path, &) : through(path, &)
      rescue Errno::EPIPE
        raise
      rescue SystemCallError => e
        raise Error, "the output cannot be written to #{path}: #{Error.reason(e)}"
      end

      # The same, packed as the name ends: .gz by zlib, .zst by the program zstd, anything else as it is.
      def self.pack(path, &block)
        write(path) do |file|
          case path
          when /\.gz\z/ then gzip(file, &block)
          when /\.zst\z/ then zstd(file, &block)
          else block.call(file)
          end
        end
      end

      # Raises Error where something stands at `path` that is no file to write to, which is not touched, or where no
      # file can come to be.
      def self.check(path)
        return if descriptor(path)

        refuse(path, File.stat(path)) if File.exist?(path)
        problem = Error.of_directory(File.dirname(path)) if replaceable?(path)
        raise Error, "the output cannot be written to #{path}: #{problem}" if problem
      rescue SystemCallError
        nil # what is wrong is told when it is written
      end

      def self.refuse(path, status)
        return if status.file? || status.chardev?

        hint = "; name a regular file, or /dev/stdout" unless status.directory?
        raise Error, "the output cannot be written to #{path}: it is a #{status.ftype.sub("fifo", "named pipe")}#{hint}"
      end

      def self.descriptor(path)
        STREAMS[path] || path[DESCRIPTOR, 1]&.to_i
      end

      def self.replaceable?(path)
        File.lstat(path).file?
      rescue Errno::ENOENT, Errno::ENOTDIR
        true
      end

      # Not opened by its name: that would cut a file, and wait for the reader of a pipe who has gone.
      def self.to_descriptor(number)
        copy = IO.for_fd(number, "wb", autoclose: false).dup
        yield copy
        copy.flush
      ensure
        copy&.close
      end

      def self.through(path)
        File.open(path, FLAGS, 0o600) do |file|
          refuse(path, file.stat)
          file.fcntl(Fcntl::F_SETFL, file.fcntl(Fcntl::F_GETFL) & ~File::NONBLOCK)
          yield file
        end
      end

      def self.replace(path, &)
        name = ".heapline-#{Process.pid}-#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)}"
        temporary = File.join(File.dirname(path), name)
        flags = File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW | File::BINARY
        File.open(temporary, flags, 0o600, &)
        File.rename(temporary, path)
      ensure
        File.unlink(temporary) if temporary && File.exist?(temporary)
      end

      def self.gzip(file)
        require "zlib"
        packer = Zlib::GzipWriter.new(file, GZIP_LEVEL)
        yield packer
      ensure
        packer&.finish
      end

      def self.zstd(file, &)
        said, err = IO.pipe
        gone = packed(file, err, &)
        err.close
        status = Process.last_status
        return gone && raise(gone) if status.success?
        raise Errno::EPIPE if status.termsig == Signal.list["PIPE"]

        raise Error, "the output was not packed: #{reason(said.read, status)}"
      rescue Errno::ENOENT
        raise Error, "for .zst the program zstd is needed: apt-get, dnf, apk and pacman install it as zstd; or name " \
                     "the file .gz"
      ensure
        [said, err].each(&:close)
      end

      # Returns what was raised where zstd reads no more: why, zstd itself says.
      def self.packed(file, err, &)
        IO.popen(ZSTD, "wb", out: file, err: err, &)
        nil
      rescue Errno::EPIPE => e
        e
      end

      # said: "zstd: error 70 : Write error : cannot write block : No space left on device"
      def self.reason(said, status)
        last = said.lines.last.to_s[/[^:]*\z/].strip
        last.empty? ? "zstd ended with #{status.to_s.sub(/\Apid \d+ /, "")}" : "#{last} (zstd)"
      end

      # Yields a file without a name (File), which is gone afterwards. directory: nil for that of temporary files.
      def self.unnamed(directory = nil)
        require "tempfile"
        file = Tempfile.create("heapline", directory).binmode
        File.unlink(file.path)
        yield file
      ensure
        file&.close
      end

      # What the block writes to such a file: a binary String. For what writes to a descriptor.
      def self.read_back
        unnamed do |file|
          yield file
          file.rewind
          file.read
        end
      end
      private_class_method :refuse, :descriptor, :replaceable?, :to_descriptor, :through, :replace, :gzip, :zstd,
                           :packed, :reason
    end
  end
end
