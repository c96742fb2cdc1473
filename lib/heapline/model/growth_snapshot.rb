# frozen_string_literal: true

require_relative "snapshot"

module Heapline
  module Model
    # What a growth log says, as a Snapshot: the sites that it lists, each with the most bytes that were live at a time
    # over all processes, since at its end they may have ended. Blocks and calls are not in it: they are 0.
    module GrowthSnapshot
      # The Snapshot of a Growth by :site.
      def self.of(growth)
        processes = growth.processes
        one = processes.first if processes.size == 1
        Snapshot.new(pid: one&.pid, command: [processes.first.command, *("and others" unless one)], ruby: one&.ruby,
                     state: :copied, taken_at: growth.last_at, sites: growth.series.map { |series| site(series) })
      end

      def self.site(series)
        growth = series.growth_bytes
        live = { live_bytes: series.points.map(&:last).max || 0, growth_bytes: growth, retained_bytes: growth }
        Site.new(location: series.place, kind: series.kind&.to_sym, tag: series.tag, **Site::ZERO, **live)
      end
      private_class_method :site
    end
  end
end
