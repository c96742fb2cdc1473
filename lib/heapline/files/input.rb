# frozen_string_literal: true

require "io/wait"
require_relative "../errors"

module Heapline
  # The bytes of what a user names: a file, a pipe, or a stream that is open already. All that heapline reads and did
  # not just write comes through here, so that every command answers alike: what is a device, a directory or a socket is
  # refused; a pipe that nobody writes to is given up; what gzip or zstd packed is unpacked, told by its first bytes;
  # what has no end, or is larger than such a file can be, is an InputError that names it.
  #
  # (Heap dumps and captures are read in C++, flight files in C, by the same rules.)
  # @api private
  class Input
    CHUNK = 1 << 16
    # Seconds for which a pipe's name may have no writer.
    PATIENCE = 10
    # What is read as a whole, and as a text that a person wrote.
    MOST = 256 << 20
    TEXT_MOST = 8 << 20
    PACKED = { "\x1F\x8B".b => :Gzip, "\x28\xB5\x2F\xFD".b => :Zstd }.freeze

    # Yields the Input of what `name` names. pipe: is one allowed? Raises InputError.
    def self.open(name, pipe: true, patience: PATIENCE)
      file = opened(name, pipe)
      input = new(file, name, pipe: pipe, patience: patience)
      yield input
    ensure
      input&.close
      file&.close
    end

    # A device is not opened only to see that it is one.
    def self.opened(name, pipe)
      check(name, File.stat(name), pipe)
      File.open(name, File::RDONLY | File::NONBLOCK | File::NOCTTY | File::BINARY)
    rescue SystemCallError, ArgumentError => e # ArgumentError: NUL in the name
      raise InputError, "#{name} cannot be opened: #{Error.reason(e)}"
    end

    def self.check(name, status, pipe)
      return if status.file? || (status.pipe? && pipe)
      raise InputError, "#{name} is a directory" if status.directory?

      raise InputError, "#{name} is a #{status.pipe? ? "pipe" : "device"}: give a file"
    end
    private_class_method :opened

    # All of it, unpacked (String, binary). Raises InputError where it is more than `most` bytes; kind: what such a file
    # is called there.
    def self.bytes(name, most: MOST, kind: "such a file", **options)
      Input.open(name, **options) { |input| input.all(most, kind: kind) }
    end

    # The same as valid UTF-8: what is invalid is replaced.
    def self.text(name, most: TEXT_MOST, **options)
      bytes(name, most: most, **options).force_encoding(Encoding::UTF_8).scrub
    end

    # Up to `size` of the first bytes of a regular file, as they lie there; "" where there is none that can be read.
    def self.beginning(name, size)
      Input.open(name, pipe: false) { |input| input.beginning(size) }
    rescue InputError
      ""
    end

    # Is what the name stands for a regular file?
    def self.file?(name)
      File.file?(name)
    rescue ArgumentError # NUL
      false
    end

    attr_reader :name, :size

    # io: open for reading. A File is looked at (see `open`); any other, such as standard input, is taken as it is.
    def initialize(io, name, pipe: true, patience: nil)
      @io = io
      @name = name
      @patience = patience
      @position = 0
      look(io.stat, pipe) if patience
    end

    # How many bytes of the file were read, packed as they are.
    attr_reader :position

    # Some more bytes, unpacked (String, binary, never empty); nil at the end. Raises InputError.
    def chunk
      source ? source.chunk : packed_chunk
    rescue SystemCallError, IOError => e
      fail_with("cannot be read: #{Error.reason(e)}")
    end

    # All that is left; see Input.bytes. (A String that grew would have room for twice as many bytes, up to then.)
    def all(most, kind: "such a file")
      chunks = []
      left = most
      while (more = chunk)
        chunks << more
        left -= more.bytesize
        next unless left.negative? || size.to_i > most

        fail_with("is larger than #{most >> 20} MB, the most that heapline reads of #{kind}")
      end
      chunks.join.force_encoding(Encoding::BINARY)
    end

    # Up to `size` bytes as they lie in the file.
    def beginning(size)
      @io.pread(size, 0)
    rescue EOFError
      ""
    rescue SystemCallError => e
      fail_with("cannot be read: #{Error.reason(e)}")
    end

    # `size` bytes of a regular file from `offset` on, as they lie there; InputError where it has fewer.
    def at(offset, size)
      bytes = @io.pread(size, offset)
      bytes.bytesize == size ? bytes : fail_with("is cut short")
    rescue EOFError, SystemCallError, RangeError => e
      fail_with("cannot be read at byte #{offset}: #{Error.reason(e)}")
    end

    # Writes all bytes to `io` as they lie in the file.
    def copy(io)
      while (bytes = packed_chunk)
        io.write(bytes)
      end
    end

    # The last `size` bytes of a regular file.
    def ending(size)
      start = [self.size - size, 0].max
      @io.pread([size, 1].max, start)
    rescue EOFError
      ""
    end

    # Is it packed? Of what is no regular file, the first bytes are read for that.
    def packed?
      !source.nil?
    end

    # Some more bytes as they lie in the file; nil at the end.
    def packed_chunk
      bytes = @ahead || more
      @ahead = nil
      bytes
    end

    # For what unpacks a regular file by itself: the File, at its beginning.
    def descriptor
      fail_with("is packed and not a regular file: unpack it first") unless size

      @io.tap(&:rewind)
    end

    # The process that unpacks is done with.
    def close
      @source&.close
    end

    # Raises InputError: the name, and what is wrong with what it names.
    def fail_with(problem)
      raise InputError, "#{name} #{problem}"
    end

    private

    def look(status, pipe)
      Input.check(name, status, pipe)
      @size = status.size if status.file?
    end

    # What unpacks, or nil.
    def source
      return @source if defined?(@source)

      @ahead = packed_chunk
      kind = PACKED.find { |magic, _| @ahead&.start_with?(magic) }&.last
      return @source = nil unless kind

      require_relative "unpacking"
      @source = Unpacking.const_get(kind).new(self)
    end

    def more
      bytes = @patience ? patiently : @io.readpartial(CHUNK)
      @position += bytes.bytesize if bytes
      bytes
    rescue EOFError
      nil
    end

    # A pipe is open without waiting: at its end, and before its first writer, it has no bytes.
    def patiently
      loop do
        case bytes = @io.read_nonblock(CHUNK, exception: false)
        when String then return bytes
        when nil then return nil if size || @written
        else fail_with("has nothing to read now, and is no pipe") if size
        end
        @io.wait_readable(@written || bytes ? nil : @patience) or
          fail_with("is a pipe, and nobody writes to it")
        @written = true
      end
    end
  end
end
