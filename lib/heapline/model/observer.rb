# frozen_string_literal: true

require_relative "../clock"
require_relative "flight"
require_relative "flight_directory"
require_relative "inquiry"
require_relative "ledger"
require_relative "process_memory"
require_relative "process_tree"
require_relative "reading"

module Heapline
  module Model
    # Reads one process again and again, with the living processes that were forked from it. Its flight file is held
    # open: a normal end removes the file, and how the process ended is still to be read.
    class Observer
      include Clock

      # Seconds between two ledgers: the kernel walks all pages of the process for one.
      LEDGER = 2

      attr_reader :entry

      # entry: FlightDirectory::Entry. Raises FlightError where its file cannot be opened.
      def initialize(directory, entry)
        @directory = directory
        @forked_from = {}
        @missed = 0
        @ledger_due = 0
        hold(entry)
      end

      # The Reading of now. merge: with the processes that were forked from it. Where the process has ended, the state
      # of its snapshot says how. Raises FlightError where the file is damaged.
      def read(merge: true)
        root = Flight.read(@file.fileno)
        root = follow || root if root.state == :execed
        snapshots = merge ? [root, *children(root)] : [root]
        Reading.new(snapshots, at: now, rss_bytes: rss(snapshots), stopped: entry.process.stopped?,
                               ledger: (ledger(root) if snapshots.size == 1))
      end

      # Entries of the living descendants.
      def descendants
        living = @directory.entries.select { |other| other.pid != entry.pid && other.alive? }
        @forked_from = living.to_h { |other| [other.path, @forked_from[other.path] || forked_from(other)] }
        kin = living.map { |other| Kin.new(other.pid, @forked_from[other.path], other) }
        ProcessTree.descendants(Kin.new(entry.pid), kin).map(&:entry)
      end

      # Has the process that this Reading is of ended? A program that was executed in its place may still be on its way:
      # it removes the former file just before it names its own.
      def ended?(reading)
        return reading.root.state != :running unless reading.root.state == :execed && entry.alive?

        @missed = kept? ? 0 : @missed + 1
        @missed > 1
      end

      # Is there still a flight file for a post-mortem?
      def kept?
        File.stat(entry.path).ino == @file.stat.ino
      rescue SystemCallError
        false
      end

      def close
        @file.close
      end

      # A process by its place in the tree.
      Kin = Struct.new(:pid, :forked_from, :entry)
      private_constant :Kin

      private

      def hold(entry)
        file = File.open(entry.path, File::RDONLY | File::NOFOLLOW | File::NONBLOCK)
        @file&.close
        @file = file
        @entry = entry
      rescue SystemCallError => e
        raise FlightError, "flight file #{entry.path} cannot be opened: #{Error.reason(e)}"
      end

      # exec keeps the process and begins a new file in place of this one. Until it is there, or the new program turns
      # out to be none of Ruby, nothing is known but the old one.
      def follow
        fresh = @directory.find(entry.pid)
        return nil if fresh.nil? || !fresh.alive? || kept?

        hold(fresh)
        Flight.read(@file.fileno)
      end

      # Only the process itself knows its object heap. It is asked, not waited for, and the ledger is made at the next
      # reading.
      def ledger(root)
        if @asked
          @asked = false
          @ledger = Ledger.read(root)
        elsif now >= @ledger_due
          @ledger_due = now + LEDGER
          @asked = true
          ask
        end
        @ledger
      end

      def ask
        Inquiry.new(entry).ask(timeout: 0) if entry.alive?
      rescue FlightError
        nil
      end

      def children(root)
        descendants.filter_map { |other| readable(other) }.reject { |child| child.pid == root.pid }
      end

      # A child may end while it is read.
      def readable(other)
        snapshot = Flight.read(other.path)
        snapshot if snapshot.state == :running
      rescue FlightError
        nil
      end

      def forked_from(other)
        Flight.header(other.path)[:forked_from]
      rescue FlightError
        nil
      end

      def rss(snapshots)
        snapshots.filter_map { |snapshot| ProcessMemory.rss(snapshot.pid) if snapshot.state == :running }.sum
      end
    end
  end
end
