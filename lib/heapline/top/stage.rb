# frozen_string_literal: true

require_relative "../processes/process_list"
require_relative "../accounting/flight"
require_relative "../processes/process_tree"
require_relative "../processes/takeover"
require_relative "screen"
require_relative "fleet"
require_relative "observer"
require_relative "../places/source_lines"
require_relative "watch"

module Heapline
  module Top
    # Which process is meant: by its pid, or by a part of its command.
    module Target
      # The FlightDirectory::Entry of a living process. Where several could be meant, they are listed on `err`.
      def self.find(directory, wanted, err, env)
        return by_pid(directory, wanted.to_i) if wanted.match?(/\A\d{1,10}\z/)

        found = roots(directory.entries.select(&:alive?).filter_map { |entry| named(entry, wanted) })
        raise FlightError, none(directory, wanted) if found.empty?
        return found.first.entry if found.size == 1

        list(directory, found, err, env)
        raise UsageError, "#{found.size} processes have #{wanted.inspect} in their command: give one PID"
      end

      class << self
        private

        def by_pid(directory, pid)
          entry = directory.fetch(pid)
          return Processes::Takeover.await([entry]).first if entry.alive?

          raise FlightError, "process #{pid} is dead; its counts are kept: heapline report #{pid}"
        end

        def named(entry, wanted)
          header = Accounting::Flight.header(entry.path)
          return nil unless header[:command].join(" ").b.downcase.include?(wanted.b.downcase)

          Processes::ProcessTree::Kin.of(entry, header)
        rescue FlightError
          nil
        end

        # Workers stand behind the process that they were forked from.
        def roots(matches)
          matches - matches.flat_map { |match| Processes::ProcessTree.descendants(match, matches) }
        end

        def none(directory, wanted)
          "no running process with #{wanted.inspect} in its command is counted (flight files: #{directory.path}); " \
            "`heapline ps` lists the counted processes"
        end

        def list(directory, found, err, env)
          rows = Processes::KnownProcess.all(found.map(&:entry))
          Processes::ProcessList.new(directory: directory.path, env: env).render(rows, err)
        end
      end
    end

    # What is looked at: one process (with those forked from it) or all of them, and what was seen of it so far. Reads
    # when it is told to, and makes the Scene that a Screen shows.
    class Stage
      # How a process ended. state: as in Snapshot; kept: is its flight file still there?
      Ending = Struct.new(:pid, :state, :kept, keyword_init: true)
      # Rows whose trends are followed: the first so many.
      FOLLOWED = 100

      attr_reader :ending
      attr_accessor :message

      # entry: of the process (FlightDirectory::Entry), or nil: all of them.
      def initialize(directory, entry)
        @directory = directory
        @fleet = Fleet.new(directory) unless entry
        @functions = Places::Functions.new(Places::Symbols.new)
        look_at(entry) if entry
      end

      # Read once more. False where the block, which is asked once there is something to show, says that there is no
      # time for it now.
      def read(view, &)
        return read_fleet(&) if view.page == :processes

        @watch = Watch.new if @merged != view.merged
        @merged = view.merged
        reading = @observer.read(merge: view.merged) { @watch.now && block_given? && yield }
        return false unless reading

        @message = @listed_of = nil
        @watch.add(reading)
        @ending = ending_of(reading) if @observer.ended?(reading)
        follow(view)
        true
      end

      # Raises FlightError where the View is one of Ruby objects and none of the processes counts its own.
      def demand(view)
        snapshots = @watch.now.snapshots if view.objects?
        Objects.demand(snapshots.first.pid, snapshots.any?(&:objects)) if snapshots
      end

      def scene(view)
        processes = view.page == :processes
        Screen::Scene.new(watch: processes ? nil : @watch, **listed(view), source: source(view),
                          directory: (@place unless processes), message: @message, functions: @functions)
      end

      # Look at the process `pid` from now on.
      def observe(pid)
        entry = @directory.find(pid)
        raise FlightError, "process #{pid} has ended" unless entry&.alive?

        look_at(Processes::Takeover.await([entry]).first)
      end

      # Growth counts from here on, or with clear: from the process's own baseline again.
      def mark_baseline(view, clear: false)
        @listed_of = nil
        return @fleet.mark_baseline(clear: clear) if view.page == :processes

        clear ? @observer.forget_baseline : @watch.add(@observer.read(merge: view.merged, baseline: true))
        @watch.baseline = clear ? nil : @watch.now
      end

      # Is this the process of a list, to which one can go back?
      def listed?
        !@fleet.nil?
      end

      def close
        @observer&.close
        @observer = @watch = @ending = nil
      end

      private

      def read_fleet(&)
        return false unless @fleet.read(&)

        @message = @listed_of = nil
        true
      end

      def look_at(entry)
        @observer = Observer.new(@directory, entry)
        @watch = Watch.new
        @merged = true
        @place = cwd(entry.pid)
      end

      def cwd(pid)
        File.readlink("/proc/#{pid}/cwd")
      rescue SystemCallError
        nil
      end

      def ending_of(reading)
        Ending.new(pid: reading.root.pid, state: reading.root.state, kept: @observer.kept?)
      end

      # What a Scene lists: made once for each reading, and not for each key.
      def listed(view)
        of = [view.page == :processes, view.by, view.within]
        return @listed if @listed_of == of

        @listed_of = of
        @listed = { rows: rows(view), orders: {} }
      end

      def rows(view)
        return @fleet.rows if view.page == :processes

        @watch.activity.rows(view.by, within: view.within)
      end

      def ordered(view)
        Screen::Scene.new(**listed(view)).ordered(view)
      end

      def follow(view)
        rows = ordered(view)
        @watch.follow([view.by, view.within], rows.first(FOLLOWED))
        @watch.follow(%i[location detail], [rows.current].compact) if view.page == :detail
      end

      # Read once for each place.
      def source(view)
        return nil unless view.page == :detail

        row = ordered(view).current
        return nil unless row

        @source = [row.name, source_of(row)] if @source&.first != row.name
        @source.last
      end

      def source_of(row)
        Places::SourceLines.read(row.location, pid: @observer.entry.pid)
      end
    end
  end
end
