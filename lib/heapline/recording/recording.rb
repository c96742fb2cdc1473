# frozen_string_literal: true

require_relative "../clock"
require_relative "../errors"
require_relative "../accounting/flight"
require_relative "../extension"
require_relative "naming"
require_relative "result"
require_relative "rings"

module Heapline
  # The recording of one process: what it writes into its ring, brought into a capture. The process itself only writes;
  # so it may be killed at any time, and what the ring still holds is in the capture all the same.
  # @api private
  class Recording
    # Seconds after which a process that executes another program has left no trace of heapline.
    EXECUTING = 2.0

    # path: of the capture. process: Accounting::ProcessIdentity.
    attr_reader :path, :process

    # ring: path of the ring, which is taken (Rings.take); path: where the capture goes; nothing but a regular file may
    # be there, and it is replaced. Raises Error.
    def initialize(ring, path)
      @path = path
      @process = Rings.process(ring)
      @flight = Rings.flight(ring)
      @inode = inode
      @file = create
      @drain = open_drain(ring)
    end

    # Take over what comes for so many seconds, or until the process ends the recording.
    def run(seconds)
      @drain.run(seconds)
    end

    # How it ended ("stopped", "exec", "exit", "killed"); nil while it goes on.
    def ending
      case @drain.state
      when :stopped then return "stopped"
      when :execed then return "exec" if executed?
      else @executing = nil
      end
      after_death unless process.alive?
    end

    # Have the process end it. A process that does not allocate does so late.
    def ask_to_end
      Accounting::Flight.request_record(@flight, on: false)
    rescue FlightError
      nil # it has gone
    end

    # Take over what is left; the Result. ending: "exit 0", "signal 9", "stopped" …
    def finish(ending)
      @drain.finish(ending)
      @file.close
      Result.new(path: path, ending: ending, **@drain.figures)
    end

    private

    # Written as it comes, so that it can be read whatever happens to this process; its owner's alone.
    def create
      Naming.check_file(path)
      remove(path)
      File.open(path, File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW | File::BINARY, 0o600)
    rescue SystemCallError => e
      raise Error, "the capture cannot be written to #{path}: #{Error.reason(e)}"
    end

    def remove(path)
      File.unlink(path)
    rescue SystemCallError
      nil # there is none
    end

    def open_drain(ring)
      Extension.load(:capture)
      taken = Rings.take(ring)
      Native::Drain.new(taken, @file.fileno)
    rescue Error, SystemCallError => e
      @file.close
      remove(path)
      raise e.is_a?(Error) ? e : Error.new("nothing was recorded: #{Error.reason(e)}")
    ensure
      remove(taken) if taken
    end

    # The new program has a flight file of its own, or the core has removed this one.
    def executed?
      @executing ||= Clock.now
      inode != @inode || Clock.now - @executing > EXECUTING
    end

    def inode
      File.stat(@flight).ino
    rescue Errno::ENOENT
      nil
    end

    # A normal end leaves no flight file, or one that tells of it.
    def after_death
      inode == @inode && Accounting::Flight.header(@flight)[:state] == :killed ? "killed" : "exit"
    rescue FlightError
      "exit"
    end
  end
end
