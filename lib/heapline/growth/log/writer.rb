# frozen_string_literal: true

require "io/wait"
require_relative "../../clock"
require_relative "tree"

module Heapline
  module GrowthLog
    # Follows processes and writes their lines, until none is left. Only reads flight files and /proc: the processes
    # neither wait for it nor notice it.
    class Writer
      include Clock

      # Seconds between two looks at most: a process that begins and ends in between is not seen.
      TICK = 1.0
      # The same while nothing is there to be followed.
      IDLE_TICK = 0.2

      # tree: Tree. sink: Files, Pipe or Stream. grace: so many seconds nothing must be there before that is the end (a
      # daemon's child may be on its way). roots: whose end is awaited too, accounted or not (ProcessIdentity).
      # fallback: directory of copies where the sink has none. control: IO on which any byte says stop, or nil. idle:
      # called when nothing is there to be followed.
      def initialize(tree:, sink:, settings:, grace: 0, roots: [], fallback: nil, control: nil, idle: -> {})
        @tree = tree
        @sink = sink
        @settings = settings
        @grace = grace
        @roots = roots
        @fallback = fallback
        @control = control
        @idle = idle
        @followed = []
      end

      # Follow this one too (Followed).
      def add(followed)
        @followed << followed
      end

      # Returns when all have ended, when the reader of the lines has gone, or when `control` says so. All files are
      # read into the same memory, which stays: the kernel takes longer to make and wipe it than a reading takes.
      def run
        Accounting::Flight.together do
          until over? || stopped?
            look
            wait
          end
        end
      end

      # Look at each process, find new ones, and write the lines that are due.
      def look
        @followed.concat(@tree.discover(@followed))
        @followed.reject! { |followed| followed.ended? ? finish(followed) : attend(followed) }
      end

      private

      def over?
        return true unless @sink.open?
        return @idle_since = nil if @idle_since.nil? || @followed.any?

        now - @idle_since >= @grace
      end

      def attend(followed)
        if followed.crossed?
          copy(followed)
        elsif followed.due?(now)
          write(followed)
        end
        followed.ask(now)
        false
      end

      def finish(followed)
        write(followed)
        followed.close
        true
      end

      def copy(followed)
        directory = @sink.directory(followed.pid) || @fallback
        write(followed, snapshot: followed.copy(directory))
      end

      def write(followed, **others)
        time = now
        line = followed.line(time, snapshot: nil, **others)
        written = @sink.write(followed.pid, Line.generate(line))
        written ? followed.written(time) : followed.dropped(time)
      rescue FlightError
        followed.dropped(time)
      end

      def stopped?
        !@control.nil? && !@control.read_nonblock(1).empty?
      rescue IO::WaitReadable
        false
      rescue EOFError, SystemCallError
        @control = nil # whoever could say so has gone
        false
      end

      def wait
        due = @followed.map(&:due)
        idle if due.empty? && @roots.none?(&:alive?)
        tick = @idle_since ? IDLE_TICK : TICK
        delay = [tick, @settings.every, *due.map { |time| time - now }].min
        delay = [delay, 0].max
        @control ? @control.wait_readable(delay) : sleep(delay)
      end

      # Nothing is there any more, since now or before.
      def idle
        return if @idle_since

        @idle_since = now
        @idle.call
      end
    end
  end
end
