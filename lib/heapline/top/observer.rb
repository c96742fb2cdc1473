# frozen_string_literal: true

require_relative "../clock"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../processes/figures_inquiry"
require_relative "../processes/ledger"
require_relative "../processes/memory_map"
require_relative "../processes/process_tree"
require_relative "../processes/takeover"
require_relative "reading"
require_relative "tally"

module Heapline
  module Top
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
        @kin = {}
        @kept = {}
        @names = Reading::Names.new
        @missed = 0
        @ledger_due = 0
        @takeover = Processes::Takeover.new
        hold(entry)
        Processes::Takeover.await(descendants)
      end

      # The Reading of now. merge: with the processes that were forked from it; baseline: growth counts from here on.
      # Where the process has ended, the state of its snapshot says how. nil where the block, which is asked before
      # anything is read, says that there is no time for it now. Raises FlightError where the file is damaged.
      def read(merge: true, baseline: false, &interrupted)
        others = merge ? descendants : []
        sources = [[@file, entry.process.processor_ns], *others.filter_map { |other| source(other) }]
        return read_objects(merge) if accounts_objects?(sources)

        tally(sources, baseline, &interrupted)
      ensure
        sources.to_a.drop(1).each { |source| source.first.close }
      end

      # Growth counts from the process's own baseline again.
      def forget_baseline
        @tally&.forget_baseline
      end

      # Entries of the living descendants.
      def descendants
        living = @directory.entries.select { |other| other.pid != entry.pid && other.alive? }
        @kin = living.to_h { |other| [other.path, @kin[other.path] || kin(other)] }
        own = Processes::ProcessTree::Kin.new(entry.pid, entry.process.start_ticks)
        Processes::ProcessTree.descendants(own, @kin.values.compact).map(&:entry)
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

      private

      def hold(entry)
        file = File.open(entry.path, File::RDONLY | File::NOFOLLOW | File::NONBLOCK)
        @file&.close
        @file = file
        @entry = entry
      rescue SystemCallError => e
        raise FlightError, "flight file #{entry.path} cannot be opened: #{Error.reason(e)}"
      end

      # A child may end, or its file be damaged, while it is read.
      def source(other)
        used = other.process.processor_ns
        file = File.open(other.path, File::RDONLY | File::NOFOLLOW | File::NONBLOCK)
        header = Accounting::Flight.header(file.fileno)
        return [file, used] if header[:state] == :running && header[:pid] != entry.pid

        @takeover.look(other) if header[:state] == :forked
        file.close
        nil
      rescue SystemCallError, FlightError
        file&.close
        nil
      end

      def tally(sources, baseline, &)
        @tally ||= Tally.new
        snapshots, totals = @tally.read(sources, baseline: baseline, &)
        return nil unless snapshots
        return follow_exec(sources, baseline) if snapshots.first.state == :execed && follow

        reading(snapshots) { |known| Tally::Reading.new(@tally, totals, snapshots, **known) }
      end

      # The former program's lines mean nothing in the new one's file.
      def follow_exec(sources, baseline)
        @tally = nil
        tally([[@file, nil], *sources.drop(1)], baseline)
      end

      # Classes are found by name, and their places by number: where Ruby objects are accounted all sites are told.
      def read_objects(merge)
        root = Accounting::Flight.read(@file.fileno, kept: kept(entry.path))
        root = Accounting::Flight.read(@file.fileno, kept: kept(entry.path)) if root.state == :execed && follow
        snapshots = merge ? [root, *children(root)] : [root]
        reading(snapshots) { |known| Reading.new(snapshots, names: @names, **known) }
      end

      def accounts_objects?(sources)
        sources.any? { |file, _| Accounting::Flight.header(file.fileno)[:objects_ns].positive? }
      end

      def reading(snapshots)
        yield(at: now, rss_bytes: rss(snapshots), stopped: entry.process.stopped?,
              ledger: (ledger(snapshots.first) if snapshots.map(&:state) == %i[running]))
      end

      # exec keeps the process and begins a new file in place of this one. Until it is there, or the new program turns
      # out to be none of Ruby, nothing is known but the old one.
      def follow
        fresh = @directory.find(entry.pid)
        return nil if fresh.nil? || !fresh.alive? || kept?

        hold(fresh)
        @kept.clear
        true
      end

      # Only the process itself knows its object heap. It is asked, not waited for, and the ledger is made at the next
      # reading.
      def ledger(root)
        if @asked
          @asked = false
          @ledger = Processes::Ledger.read(root)
        elsif now >= @ledger_due
          @ledger_due = now + LEDGER
          @asked = true
          ask
        end
        @ledger
      end

      def ask
        Processes::FiguresInquiry.new(entry).ask(timeout: 0) if entry.alive?
      rescue FlightError
        nil
      end

      def children(root)
        others = descendants
        @kept.keep_if { |path, _| path == entry.path || others.any? { |other| other.path == path } }
        others.filter_map { |other| readable(other) }.reject { |child| child.pid == root.pid }
      end

      # A child may end while it is read.
      def readable(other)
        snapshot = Accounting::Flight.read(other.path, kept: kept(other.path))
        snapshot if snapshot.state == :running
      rescue FlightError
        nil
      end

      def kin(other)
        Processes::ProcessTree::Kin.of(other, Accounting::Flight.header(other.path))
      rescue FlightError
        nil
      end

      # Sites of the last reading of the file at that path.
      def kept(path)
        @kept[path] ||= Accounting::FlightSites.new(again: true)
      end

      # nil where none of them has memory any more: one that has ended has 0 until its parent has waited for it.
      def rss(snapshots)
        running = snapshots.select { |snapshot| snapshot.state == :running }
        running.sum { |snapshot| Processes::ProcessMemory.rss(snapshot.pid) || 0 }.nonzero?
      end
    end
  end
end
