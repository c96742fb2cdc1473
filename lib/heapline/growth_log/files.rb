# frozen_string_literal: true

require_relative "line"

module Heapline
  module GrowthLog
    # Writes lines to files by name: `%p` in it is the pid that the line is about, `%h` this host, `%%` a `%`.
    #
    # The file is opened anew for each line, so that one that was renamed, removed or whose directory came back is found
    # as it is now. Each line is one write at the end. Where only a part of it found room, the next line begins on a new
    # one: a reader loses what was torn and no more.
    class Files
      FLAGS = File::WRONLY | File::APPEND | File::CREAT | File::NOFOLLOW | File::NONBLOCK | File::NOCTTY

      # err: where the first trouble is said.
      def initialize(name, err: $stderr)
        @name = name
        @err = err
        @said = false
      end

      # Append a line about process `pid`. false where it could not be written: it is lost.
      def write(pid, line)
        path = path(pid)
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

      def append(file, path, line)
        line = "\n#{line}" if torn?(file, path)
        raise Errno::ENOSPC unless file.syswrite(line) == line.bytesize
      end

      # Does the file end amid a line?
      def torn?(file, path)
        status = file.stat
        status.file? && status.size.positive? && File.binread(path, 1, status.size - 1) != "\n"
      rescue SystemCallError
        false
      end

      def say(path, error)
        return if @said

        @said = true
        @err.puts "heapline: the growth log cannot be written to #{Format::Inert.text(path)}: " \
                  "#{error.class.new.message}; lines are dropped until it can"
      rescue SystemCallError, IOError
        nil # nobody listens
      end
    end
  end
end
