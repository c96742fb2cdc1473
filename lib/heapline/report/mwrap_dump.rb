# frozen_string_literal: true

require_relative "../errors"

module Heapline
  # The environment variable MWRAP: `dump_path:/path/to/log,dump_min:1000` appends to a file what Mwrap.dump prints,
  # when the process ends; `dump_fd:2` writes to a descriptor. With both, dump_path counts. A Ruby program does it
  # itself, for others the reporter does. What is wrong with the text is said at once, in one line on stderr.
  # @api private
  class MwrapDump
    KEYS = %w[dump_path dump_fd dump_min dump_heap].freeze
    # A pipe without a reader is not waited for.
    FLAGS = File::WRONLY | File::APPEND | File::CREAT | File::NONBLOCK | File::NOCTTY
    # Bits of dump_heap: figures of the lives of the object heap's pages, the pages themselves, no locations.
    SUMMARY = 1
    PAGES = 2
    NO_LOCATIONS = 4

    attr_reader :path, :fd, :min, :heap

    # pid: of the process that dumps, where that is another one.
    def initialize(text, pid: nil)
      @pid = pid
      text.split(",").each { |entry| take(*entry.split(":", 2)) }
      @min ||= 0
      @heap ||= 0
    end

    # Is there somewhere to write?
    def wanted?
      !(path || fd).nil?
    end

    # Yields an IO for the dump. A file that cannot be written is said on stderr; the program's end is not disturbed.
    def write(&)
      open_io(&)
    rescue SystemCallError, IOError, Error => e
      Error.say("MWRAP: the dump was not written: #{e.message}")
    end

    # These yield where that part is wanted.
    def locations
      yield if heap.nobits?(NO_LOCATIONS)
    end

    def summary
      yield if heap.anybits?(SUMMARY)
    end

    def pages
      yield if heap.anybits?(PAGES)
    end

    private

    def take(key, value = nil)
      case key
      when "dump_path" then @path = value unless value.to_s.empty?
      when "dump_fd" then @fd = number(key, value)
      when "dump_min" then @min = number(key, value)
      when "dump_heap" then @heap = number(key, value)
      else complain("#{key} is unknown here and ignored; there are #{KEYS.join(", ")}")
      end
    end

    def number(key, value)
      Integer(value, 10)
    rescue ArgumentError, TypeError
      complain("#{key} needs a number, not #{value.inspect}")
    end

    # Another process's standard descriptors are this one's too; the others are opened anew.
    def open_io(&)
      file = path || ("/proc/#{@pid}/fd/#{fd}" if @pid && fd > 2)
      return File.open(file, FLAGS, 0o666, &) if file

      io = IO.for_fd(fd, "w", autoclose: false)
      yield io
      io.flush
    end

    def complain(text)
      Error.say("MWRAP: #{text}")
    end
  end
end
