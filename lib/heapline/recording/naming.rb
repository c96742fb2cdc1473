# frozen_string_literal: true

require_relative "../errors"

module Heapline
  class Recording
    SUFFIX = ".hlc"

    # Where captures go.
    class Naming
      # pattern: as typed, or nil. A name without %p is for one process; others get theirs by their pid.
      def initialize(pattern)
        @pattern = File.expand_path(pattern || "heapline-%p#{SUFFIX}")
        @taken = []
      end

      # Raises Error where a capture would replace what is not a regular file: a device, a FIFO, a directory.
      def self.check_file(path)
        raise Error, "a capture cannot be written to #{path}: it is not a regular file" unless File.lstat(path).file?
      rescue Errno::ENOENT
        nil # there is none
      end

      # Raises Error where nothing can be written; before the command runs.
      def check
        directory = File.dirname(@pattern)
        problem = Error.of_directory(directory)
        raise Error, "a capture cannot be written to #{directory}: #{problem}" if problem

        Naming.check_file(@pattern)
      end

      # The path for a process. One that executes another program has a second one.
      def path(pid)
        names = candidates(pid)
        @taken << names.find { |path| !@taken.include?(path) }
        @taken.last
      end

      private

      def candidates(pid)
        first = @pattern.gsub("%p", pid.to_s)
        extension = File.extname(first)
        stem = first.delete_suffix(extension)
        own = @pattern.include?("%p") ? stem : "#{stem}-#{pid}"
        [first, "#{own}#{extension}"].each + (2..).lazy.map { |number| "#{own}-#{number}#{extension}" }
      end
    end
  end
end
