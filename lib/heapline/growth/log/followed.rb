# frozen_string_literal: true

require_relative "../../accounting/flight"
require_relative "../../terminal/inert"
require_relative "../../processes/ledger"
require_relative "../../processes/memory_map"
require_relative "account"
require_relative "line"

module Heapline
  module GrowthLog
    # How a log is written. every: seconds between two lines of a process. top: sites by each of three rankings. rss:
    # resident bytes from which a process is copied once, or nil.
    Settings = Struct.new(:every, :top, :rss, keyword_init: true) do
      # top: 0 stands for as many as there may be.
      def initialize(every: nil, top: nil, rss: nil)
        top = self.class::TOP_MOST unless top.nil? || top.between?(1, self.class::TOP_MOST)
        super(every: (every || 60).to_f, top: top || 20, rss: rss)
        freeze
      end
    end
    Settings::TOP_MOST = 250

    # One process, up to its exec, whose lines are written. It holds a descriptor of the flight file: what was counted
    # can be read through it also after the process has ended and its file is gone.
    class Followed
      # Seconds: how long before a line the process is asked for its figures, and how often at most.
      LEAD = 1.5
      ASK_EVERY = 0.5
      # How the copy of the flight file is opened.
      FLAGS = File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW

      # The process, and the steady clock's time of the next line; nil: at once.
      attr_reader :identity, :due

      # io: the flight file (File), open for reading. err: where it is said that a copy could not be made. Raises
      # FlightError.
      def initialize(io, settings, err: $stderr)
        @io = io
        @err = err
        @every = settings.every
        @limit = settings.rss
        header = Accounting::Flight.header(io.fileno)
        @identity = Accounting::ProcessIdentity.of_header(header)
        @pids = Accounting::FlightHeader.pids(header)
        @account = Account.new(top: settings.top, forked: !header[:forked_from].zero?)
        @objects = ObjectAccount.new(top: settings.top)
        @dropped = 0
        @ended = false
      end

      # As it is called here.
      def pid
        @pids[:pid]
      end

      # Look whether the process is still what it was. true from the moment on that this image has ended.
      def ended?
        @ended ||= !@identity.alive? || gone?
      end

      # The name that the flight file has, or had.
      def file_name
        "#{@identity.stem}.flight"
      end

      # Is it time for a line? Lines keep to multiples of `every` from the first on, so that they do not drift.
      def due?(now)
        @due.nil? || now >= @due
      end

      # Did its resident memory reach the limit just now? True once.
      def crossed?
        rss = @limit && rss_bytes
        return false if rss.nil? || rss < @limit

        @limit = nil
        true
      end

      # Resident bytes now, cheaply; nil where the process is gone.
      def rss_bytes
        Processes::ProcessMemory.rss(pid)
      end

      # The next line (Hash). others: further keys.
      def line(now, **others)
        flight = Accounting::Flight.choose(@io.fileno) { |packed| @account.look(Counts.new(packed)) }
        flight.update(@pids)
        flight[:state] = :running unless @ended
        @generation = flight[:generation]
        memory, ledger = memory(flight[:snapshot]) if @identity.alive?
        Line.build(flight, @account, now: now, memory: memory, ledger: ledger, every_s: @every,
                                     dropped_lines: @dropped, **others,
                                     **@objects.line(Accounting::Flight.objects(@io.fileno)))
      end

      # A line comes soon: let the process bring up to date what it alone knows of its memory, for the ledger. One bit
      # in its flight file; and not too often.
      def ask(now)
        return if @asked && now < [@asked + ASK_EVERY, @due - LEAD].max

        @asked = now
        Accounting::Flight.request_figures("/proc/self/fd/#{@io.fileno}")
      rescue FlightError
        nil # its last figures do, too
      end

      # What became of the line.
      def written(now)
        @account.written(now, @generation)
        @dropped = 0
        plan(now)
      end

      def dropped(now)
        @dropped += 1
        plan(now)
      end

      # Copy the flight file into `directory`: `heapline report` reads the copy when the process is long gone. The path,
      # or nil where that failed.
      def copy(directory)
        time = Time.now.utc.strftime("%Y%m%dT%H%M%SZ")
        path = File.join(directory, "heapline-#{pid}-#{time}.heapline")
        File.open(path, FLAGS, 0o600) { |file| file.write(Accounting::Flight.copy(@io.fileno)) }
        path
      rescue SystemCallError => e
        say(path, e)
      end

      def close
        @io.close
      end

      private

      # What the kernel says, and the ledger of it where the process has told its part.
      def memory(snapshot)
        memory = Processes::ProcessMemory.read(pid)
        ledger = Processes::Ledger.read(snapshot, alive: true) if memory && snapshot.figures&.objects_at
        [memory, ledger]
      end

      # It says that it has ended; or it became another program, and the file lost its name.
      def gone?
        state = Accounting::Flight.header(@io.fileno)[:state]
        state == :exited || (state == :execed && @io.stat.nlink.zero?)
      end

      def say(path, error)
        @err.puts "heapline: #{Inert.text(path)} cannot be written: #{error.class.new.message}"
        nil
      rescue SystemCallError, IOError
        nil # nobody listens
      end

      def plan(now)
        @due ||= now
        @due += @every * (((now - @due) / @every).floor + 1)
      end
    end
  end
end
