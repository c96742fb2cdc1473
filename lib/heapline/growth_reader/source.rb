# frozen_string_literal: true

require "time"

module Heapline
  class GrowthReader
    # One file of a growth log, or standard input.
    class Source
      # What of a directory is a log: x.jsonl, x.log.2, x.jsonl-20260101.gz …
      LOG_NAME = /\.(?:jsonl?|log)(?:[.-]\d+)*(?:\.gz)?\z/
      GZIP = "\x1F\x8B".b
      TIME = /"time"\s*:\s*"([^"]{10,40})"/n
      # Where a line's time is looked for, from the beginning and from the end.
      PEEK = 1 << 16
      TAIL = 1 << 22

      # An Array of Source for file names, directories, patterns and "-".
      def self.all(names, input)
        names.flat_map { |name| name == "-" ? [new("standard input", input)] : expand(name).map { |path| new(path) } }
             .uniq(&:name)
      end

      def self.expand(name)
        return in_directory(name) if File.directory?(name)
        return [name] if File.exist?(name)

        found = Dir.glob(name).select { |path| File.file?(path) }.sort
        raise Error, "#{name}: there is no such file" if found.empty?

        found
      end

      def self.in_directory(name)
        found = Dir.children(name).grep(LOG_NAME).sort.map { |child| File.join(name, child) }
        found = found.select { |path| File.file?(path) }
        raise Error, "#{name}: no file in this directory has the name of a log (.jsonl, .json, .log)" if found.empty?

        found
      end
      private_class_method :expand, :in_directory

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
        found = regular? ? open { |io, _| Source.ms(io.read(PEEK).to_s[TIME, 1]) } : nil
        found || Float::INFINITY
      rescue SystemCallError, Zlib::Error
        Float::INFINITY
      end

      # ms since 1970 of the last line's time; nil where there is none. Raises UsageError where it cannot be known
      # before reading.
      def last_time
        raise UsageError, "#{name} is read once: give --since a time, not a duration" unless regular?

        Source.ms(compressed? ? last_of_stream : tail.scan(TIME).last&.first)
      rescue SystemCallError, Zlib::Error
        nil
      end

      # Yields an IO of the plain text and a Proc that tells how many bytes of the file are read.
      def open(&)
        return yield(@input, -> { 0 }) if @input

        File.open(@name, "rb") do |file|
          compressed? ? members(file, &) : yield(file, -> { file.pos })
        end
      end

      def self.ms(text)
        text && (Time.iso8601(text).to_f * 1000)
      rescue ArgumentError
        nil
      end

      private

      def regular?
        @input.nil? && File.file?(@name)
      end

      def compressed?
        return false unless regular?

        @compressed = File.binread(@name, 2) == GZIP if @compressed.nil?
        @compressed
      end

      # A compressed file may be several, one behind the other.
      def members(file)
        position = -> { file.pos }
        loop do
          reader = Zlib::GzipReader.new(file)
          result = yield(reader, position)
          return result unless reader.eof?

          unused = reader.unused.to_s.bytesize
          reader.finish
          file.pos -= unused
          return result if file.eof?
        end
      end

      def tail
        File.open(@name, "rb") do |file|
          file.seek(-[TAIL, file.size].min, IO::SEEK_END)
          file.read
        end
      end

      def last_of_stream
        found = nil
        open do |io, _|
          io.each_line("\n", LINE_MAX) { |line| found = line.b[TIME, 1] || found }
        end
        found
      end
    end
  end
end
