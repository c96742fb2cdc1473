# frozen_string_literal: true

require_relative "../clock"
require_relative "flight"
require_relative "flight_directory"
require_relative "process_memory"
require_relative "reading"
require_relative "watch"

module Heapline
  module Model
    # All living processes of the user, each with what has been seen of it while they were watched.
    class Fleet
      # One process. name: its pid (Integer); forked_from: pid or nil; the figures are of Activity::Row.
      Row = Struct.new(:name, :snapshot, :rss_bytes, :stopped, :figures, keyword_init: true) do
        def initialize(**fields)
          super
          freeze
        end

        %i[live_bytes growth_bytes live_rate allocation_rate].each do |name|
          define_method(name) { figures.public_send(name) }
        end

        def command
          snapshot.command.join(" ")
        end
      end

      def initialize(directory)
        @directory = directory
        @watches = {}
      end

      # Read all of them. Files that cannot be read are left out: `heapline ps` says what is wrong with them.
      def read
        readings = @directory.entries.select(&:alive?).filter_map { |entry| reading(entry) }
        @watches = readings.to_h do |reading|
          watch = @watches[reading.members] || Watch.new
          [reading.members, watch.add(reading)]
        end
        self
      end

      # A Row for each process, in no order of interest.
      def rows
        @watches.values.map do |watch|
          now = watch.now
          Row.new(name: now.root.pid, snapshot: now.root, rss_bytes: now.rss_bytes, stopped: now.stopped,
                  figures: watch.activity.total)
        end
      end

      # Growth counts from here on; clear: from each process's own baseline again.
      def mark_baseline(clear: false)
        @watches.each_value { |watch| watch.baseline = clear ? nil : watch.now }
      end

      private

      def reading(entry)
        snapshot = Flight.read(entry.path)
        return nil unless snapshot.state == :running

        Reading.new([snapshot], at: Clock.now,
                                rss_bytes: ProcessMemory.rss(entry.pid), stopped: entry.process.stopped?)
      rescue FlightError
        nil
      end
    end
  end
end
