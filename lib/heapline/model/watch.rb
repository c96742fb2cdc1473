# frozen_string_literal: true

require_relative "activity"
require_relative "trend"

module Heapline
  module Model
    # What has been seen of one process while it was watched: the newest reading, an earlier one, a baseline, trends. It
    # holds at most four readings, however long it goes on.
    class Watch
      # Rates are over at least half of these seconds, and at most all of them: one garbage collection is no trend.
      SPAN = 10.0
      # So many trends of groups are kept: those that were followed last.
      TRENDS = 400

      # now: the newest Reading, or nil; rss, live: Trends of the whole.
      attr_reader :now, :rss, :live
      # The Reading that growth is counted from; nil: the process's own baseline.
      attr_accessor :baseline

      def initialize
        @rss = Trend.new
        @live = Trend.new
        @trends = {}
      end

      # Take note of a new Reading. What exec made of the process is measured against nothing older.
      def add(reading)
        @older = @mark = nil if @now && @now.root.started_at != reading.root.started_at
        mark(reading)
        @now = reading
        @rss << reading.rss_bytes
        @live << reading.total.live_bytes
        self
      end

      def activity
        Activity.new(@now, earlier: @older || (@mark unless @mark.equal?(@now)), baseline: @baseline)
      end

      # Add to the trend of each of these rows of Activity; key says which grouping they belong to.
      def follow(key, rows)
        rows.each { |row| (@trends[[key, row.name]] = @trends.delete([key, row.name]) || Trend.new) << row.live_bytes }
        @trends.shift while @trends.size > TRENDS
      end

      # The Trend of a row's live bytes, or nil.
      def trend(key, row)
        @trends[[key, row.name]]
      end

      private

      # Two marks, at least half a span apart: the older one is what rates are measured against.
      def mark(reading)
        return if @mark && reading.at - @mark.at < SPAN / 2

        @older = @mark
        @mark = reading
      end
    end
  end
end
