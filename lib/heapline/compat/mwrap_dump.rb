# frozen_string_literal: true

require_relative "../errors"

module Heapline
  # The environment variable MWRAP: `dump_path:/path/to/log,dump_min:1000` appends to a file what Mwrap.dump prints,
  # when the process ends; `dump_fd:2` writes to a descriptor. With both, dump_path counts.
  class MwrapDump
    KEYS = %w[dump_path dump_fd dump_min].freeze
    # A pipe without a reader is not waited for.
    FLAGS = File::WRONLY | File::APPEND | File::CREAT | File::NONBLOCK | File::NOCTTY

    attr_reader :path, :fd, :min

    # Arrange the dump that `text` asks for, after all at_exit blocks that are registered later. What is wrong with
    # `text` is said at once, in one line on stderr.
    def self.at_exit(text)
      return if text.to_s.empty?

      dump = new(text)
      Kernel.at_exit { dump.write } if dump.wanted?
    end

    def initialize(text)
      text.split(",").each { |entry| take(*entry.split(":", 2)) }
      @min ||= 0
    end

    # Is there somewhere to write?
    def wanted?
      !(path || fd).nil?
    end

    # Write the figures so far. A file that cannot be written is said on stderr; the program's end is not disturbed.
    def write
      Heapline.quiet { open { |io| Heapline.dump(io, min) } }
    rescue SystemCallError, IOError, Error => e
      complain("the dump was not written: #{e.message}")
    end

    private

    def take(key, value = nil)
      case key
      when "dump_path" then @path = value unless value.to_s.empty?
      when "dump_fd" then @fd = number(key, value)
      when "dump_min" then @min = number(key, value)
      else complain("#{key} is unknown here and passed over; there are #{KEYS.join(", ")}")
      end
    end

    def number(key, value)
      Integer(value, 10)
    rescue ArgumentError, TypeError
      complain("#{key} needs a number, not #{value.inspect}")
    end

    def open(&)
      return File.open(path, FLAGS, 0o666, &) if path

      io = IO.for_fd(fd, "w", autoclose: false)
      yield io
      io.flush
    end

    def complain(text)
      Error.say("MWRAP: #{text}")
    end
  end
end
