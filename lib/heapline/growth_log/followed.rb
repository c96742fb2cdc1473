# frozen_string_literal: true

require_relative "../model/flight"
require_relative "../model/ledger"
require_relative "../model/process_memory"
require_relative "account"
require_relative "line"
require_relative "object_account"

module Heapline
  module GrowthLog
    # One process, up to its exec, whose lines are written. It holds a descriptor of the flight file: what was counted
    # can be read through it also after the process has ended and its file is gone.
    class Followed
      PAGE = 4096
      # Seconds: how long before a line the process is asked for its figures, and how often at most.
      LEAD = 1.5
      ASK_EVERY = 0.5

      # The pid, and the steady clock's time of the next line; nil: at once.
      attr_reader :pid, :due

      # io: the flight file (File), open for reading. Raises FlightError.
      def initialize(io, settings)
        @io = io
        @every = settings.every
        header = Model::Flight.header(io.fileno)
        @pid = header[:pid]
        @identity = Model::ProcessIdentity.new(@pid, header[:start_ticks])
        @account = Account.new(top: settings.top, forked: !header[:forked_from].zero?)
        @objects = ObjectAccount.new(top: settings.top)
        @dropped = 0
        @ended = false
      end

      # Look whether the process is still what it was. true from the moment on that this image has ended.
      def ended?
        @ended ||= !@identity.alive? || gone?
      end

      # The name that the flight file has, or had.
      def file_name
        "#{@pid}-#{@identity.start_ticks}.flight"
      end

      # Is it time for a line? Lines keep to multiples of `every` from the first on, so that they do not drift.
      def due?(now)
        @due.nil? || now >= @due
      end

      # Resident bytes now, cheaply; nil where the process is gone.
      def rss_bytes
        Model::ProcessMemory.rss(@pid)
      end

      # The next line (Hash). others: further keys.
      def line(now, **others)
        flight = Model::Flight.choose(@io.fileno) { |packed| @account.look(Counts.new(packed)) }
        flight[:state] = :running unless @ended
        memory, ledger = memory(flight[:snapshot]) if @identity.alive?
        Line.build(flight, @account, now: now, memory: memory, ledger: ledger, every_s: @every,
                                     dropped_lines: @dropped, **others,
                                     **@objects.line(Model::Flight.objects(@io.fileno)))
      end

      # A line comes soon: let the process bring up to date what it alone knows of its memory, for the ledger. One bit
      # in its flight file; and not too often.
      def ask(now)
        return if @asked && now < [@asked + ASK_EVERY, @due - LEAD].max

        @asked = now
        Model::Flight.request_figures("/proc/self/fd/#{@io.fileno}")
      rescue FlightError
        nil # its last figures do, too
      end

      # What became of the line.
      def written(now)
        @account.written(now)
        @dropped = 0
        plan(now)
      end

      def dropped(now)
        @dropped += 1
        plan(now)
      end

      # Copy the flight file into `target` (IO).
      def copy(target)
        bytes = Model::Flight.header(@io.fileno)[:page_count] * PAGE
        IO.copy_stream("/proc/self/fd/#{@io.fileno}", target, bytes)
      end

      def close
        @io.close
      end

      private

      # What the kernel says, and the ledger of it where the process has told its part.
      def memory(snapshot)
        memory = Model::ProcessMemory.read(@pid)
        ledger = Model::Ledger.read(snapshot, alive: true) if memory && snapshot.figures&.objects_at
        [memory, ledger]
      end

      # It says that it has ended; or it became another program, and the file lost its name.
      def gone?
        state = Model::Flight.header(@io.fileno)[:state]
        state == :exited || (state == :execed && @io.stat.nlink.zero?)
      end

      def plan(now)
        @due ||= now
        @due += @every * (((now - @due) / @every).floor + 1)
      end
    end
  end
end
