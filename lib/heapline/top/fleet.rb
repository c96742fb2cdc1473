# frozen_string_literal: true

require_relative "../frozen"
require_relative "../clock"
require_relative "../accounting/flight"
require_relative "../accounting/flight_directory"
require_relative "../processes/memory_map"
require_relative "../processes/takeover"
require_relative "reading"
require_relative "watch"

module Heapline
  # @api private
  module Top
    # All living processes of the user, each with what has been seen of it while they were watched.
    class Fleet
      # One process. name: its pid (Integer); forked_from: pid or nil; the figures are of Activity::Row.
      Row = Struct.new(:name, :snapshot, :rss_bytes, :stopped, :figures, keyword_init: true) do
        include Frozen

        def live_bytes
          figures.live_bytes
        end

        def growth_bytes
          figures.growth_bytes
        end

        def rate(figure)
          figures.rate(figure)
        end

        def command
          snapshot.command.join(" ")
        end
      end

      def initialize(directory)
        @directory = directory
        @watches = {}
        @last = Reading::Last.new
        @takeover = Processes::Takeover.new
      end

      # Read all of them. Files that cannot be read are left out: `heapline ps` says what is wrong with them. false
      # where the block, which is asked before each once there is something to show, says that there is no time now.
      def read
        entries = @directory.entries.select(&:alive?)
        readings = Accounting::Flight.together do
          entries.filter_map do |entry|
            return false if @watches.any? && block_given? && yield

            reading(entry)
          end
        end
        @last.keep(entries.map(&:path))
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
        snapshot = totals(entry)
        return nil unless snapshot.state == :running

        Reading.new([snapshot], at: Clock.now,
                                rss_bytes: Processes::ProcessMemory.rss(entry.pid), stopped: entry.process.stopped?)
      rescue FlightError
        @takeover.look(entry) if Processes::Takeover.rests?(entry)
        nil
      end

      def totals(entry)
        used = entry.process.processor_ns
        @last.take(entry.path, used) { Accounting::Flight.totals(entry.path) unless @last.same?(entry.path, used) }
      end
    end
  end
end
