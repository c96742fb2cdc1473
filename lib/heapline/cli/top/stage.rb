# frozen_string_literal: true

require_relative "../../format/screen"
require_relative "../../model/fleet"
require_relative "../../model/observer"
require_relative "../../model/source_lines"
require_relative "../../model/watch"

module Heapline
  module CLI
    class Top
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
          @fleet = Model::Fleet.new(directory) unless entry
          look_at(entry) if entry
        end

        # Read once more.
        def read(view)
          @message = nil
          return @fleet.read if view.page == :processes

          @watch = Model::Watch.new if @merged != view.merged
          @merged = view.merged
          reading = @observer.read(merge: view.merged)
          @watch.add(reading)
          @ending = ending_of(reading) if @observer.ended?(reading)
          follow(view)
        end

        def scene(view)
          processes = view.page == :processes
          Format::Screen::Scene.new(watch: processes ? nil : @watch, rows: rows(view), source: source(view),
                                    directory: (@place unless processes), message: @message)
        end

        # Look at the process `pid` from now on.
        def observe(pid)
          entry = @directory.find(pid)
          raise FlightError, "process #{pid} has ended" unless entry&.alive?

          look_at(entry)
        end

        # Growth counts from the newest reading, or with clear: from the process's own baseline again.
        def mark_baseline(view, clear: false)
          if view.page == :processes
            @fleet.mark_baseline(clear: clear)
          else
            @watch.baseline = clear ? nil : @watch.now
          end
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

        def look_at(entry)
          @observer = Model::Observer.new(@directory, entry)
          @watch = Model::Watch.new
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

        def rows(view)
          return @fleet.rows if view.page == :processes

          @watch.activity.rows(view.by, within: view.within)
        end

        def follow(view)
          rows = Format::Screen::Rows.new(view, rows(view))
          @watch.follow([view.by, view.within], rows.all.first(FOLLOWED))
          @watch.follow(%i[location detail], [rows.current].compact) if view.page == :detail
        end

        # Read once for each place.
        def source(view)
          return nil unless view.page == :detail

          row = Format::Screen::Rows.new(view, rows(view)).current
          return nil unless row

          @source = [row.name, source_of(row)] if @source&.first != row.name
          @source.last
        end

        def source_of(row)
          Model::SourceLines.read(row.location, pid: @observer.entry.pid)
        end
      end
    end
  end
end
