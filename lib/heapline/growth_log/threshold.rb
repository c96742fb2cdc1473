# frozen_string_literal: true

require "json"
require_relative "../format/inert"

module Heapline
  module GrowthLog
    # Copies the flight file of a process once, when its resident memory crosses a limit: `heapline report` reads the
    # copy when the process is long gone.
    class Threshold
      FLAGS = File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW

      # bytes: the limit, or nil: none. err: where it is said that a copy could not be made.
      def initialize(bytes, err: $stderr)
        @bytes = bytes
        @err = err
        @done = {}.compare_by_identity
      end

      # Did the process cross the limit just now? True once for each.
      def crossed?(followed)
        return false if @bytes.nil? || @done.key?(followed)

        rss = followed.rss_bytes
        !rss.nil? && rss >= @bytes && (@done[followed] = true)
      end

      # Copy into `directory`; the path, or nil where that failed.
      def copy(followed, directory)
        time = Time.now.utc.strftime("%Y%m%dT%H%M%SZ")
        path = File.join(directory, "heapline-#{followed.pid}-#{time}.heapline")
        File.open(path, FLAGS, 0o600) { |file| followed.copy(file) }
        path
      rescue SystemCallError => e
        say(path, e)
      end

      # The process has ended.
      def forget(followed)
        @done.delete(followed)
      end

      private

      def say(path, error)
        @err.puts "heapline: #{Format::Inert.text(path)} cannot be written: #{error.class.new.message}"
        nil
      rescue SystemCallError, IOError
        nil # nobody listens
      end
    end
  end
end
