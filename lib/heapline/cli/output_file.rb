# frozen_string_literal: true

require_relative "../errors"

module Heapline
  module CLI
    # The file of -o. It names files and methods of a program: it is its owner's alone (0600). A reader sees the former
    # file or the whole new one.
    module OutputFile
      # Yields an IO for `path`. A device, a pipe or a link that stands there is written through; anything else is
      # replaced once all is written. Raises Error where that cannot be, and Errno::EPIPE where the reader of a pipe has
      # gone: the command then ends without a word, as it does on standard output.
      def self.write(path, &)
        replaceable?(path) ? replace(path, &) : File.open(path, "wb", &)
      rescue Errno::EPIPE
        raise
      rescue SystemCallError => e
        raise Error, "the output cannot be written to #{path}: #{Error.reason(e)}"
      end

      def self.replaceable?(path)
        File.lstat(path).file?
      rescue Errno::ENOENT
        true
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
      private_class_method :replaceable?, :replace
    end
  end
end
