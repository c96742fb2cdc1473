# frozen_string_literal: true

require "time"
require_relative "../files/input"

module Heapline
  class GrowthReader
    # One file of a growth log, or standard input.
    # @api private
    class Source
      # What of a directory is a log: x.jsonl, x.log.2, x.jsonl-20260101.gz …
      LOG_NAME = /\.(?:jsonl?|log)(?:[.-]\d+)*(?:\.gz|\.zst)?\z/
      TIME = /"time"\s*:\s*"([^"]{10,40})"/n
      # Where a line's time is looked for, from the beginning and from the end.
      PEEK = 1 << 16
      TAIL = 1 << 22
      LINE = 128 # bytes that a time has at most

      # An Array of Source for file names, directories, patterns and "-".
      def self.all(names, input)
        names.flat_map { |name| name == "-" ? [new("standard input", input)] : expand(name).map { |path| new(path) } }
             .uniq(&:name)
      end

      def self.expand(name)
        return in_directory(name) if File.directory?(name)

        found = with_former(name)
        found = matching(name).flat_map { |path| with_former(path) } if found.empty?
        raise Error, "#{name}: there is no such file" if found.empty?

        found
      end

      # FILE.1 has what was in FILE before; until the next line is written it stands alone.
      def self.with_former(path)
        [*("#{path}.1" if File.file?("#{path}.1")), *(path if File.exist?(path))]
      end

      def self.matching(pattern)
        Dir.glob([pattern, "#{pattern}.1"]).select { |path| File.file?(path) }.sort
      end

      def self.in_directory(name)
        found = Dir.children(name).grep(LOG_NAME).sort.map { |child| File.join(name, child) }
        found = found.select { |path| File.file?(path) }
        raise Error, "#{name}: no file in this directory has the name of a log (.jsonl, .json, .log)" if found.empty?

        found
      end
      private_class_method :expand, :with_former, :matching, :in_directory

      attr_reader :name

      # io: given for standard input; a file is opened when it is read.
      def initialize(name, input = nil)
        @name = name
        @input = input
      end

      # Bytes; nil for what is no regular file.
      def size
        File.size(@name) if regular?
      end

      # ms since 1970 of the first line that has a time; what has none comes last.
      def first_time
        found = regular? ? open { |input| Source.ms(input.chunk.to_s.byteslice(0, PEEK)[TIME, 1]) } : nil
        found || Float::INFINITY
      rescue InputError
        Float::INFINITY
      end

      # ms since 1970 of the last line's time; nil where there is none. Raises UsageError where it cannot be known
      # before reading.
      def last_time
        raise UsageError, "#{name} is read once: give --since a time, not a duration" unless regular?

        open { |input| Source.ms(input.packed? ? last_of(input) : input.ending(TAIL).scan(TIME).last&.first) }
      rescue InputError
        nil
      end

      # Yields the Input. Raises InputError.
      def open(&)
        @input ? yield(Input.new(@input, name)) : Input.open(@name, &)
      end

      def self.ms(text)
        text && (Time.iso8601(text).to_f * 1000)
      rescue ArgumentError
        nil
      end

      private

      def regular?
        @input.nil? && Input.file?(@name)
      end

      # The last time in what is packed; it may lie across two chunks.
      def last_of(input)
        found = nil
        before = "".b
        while (bytes = input.chunk)
          before << bytes
          found = before.scan(TIME).last&.first || found
          before = before.byteslice([before.bytesize - LINE, 0].max..)
        end
        found
      end
    end
  end
end
