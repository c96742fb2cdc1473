# frozen_string_literal: true

require_relative "activity"

module Heapline
  module Top
    # How a figure moved since it was first seen, in bounded room: when there are too many values, every second one is
    # left out, and from then on only every second one is kept.
    class Trend
      LIMIT = 64

      def initialize
        @values = []
        @stride = 1
        @count = 0
      end

      # Add a value (Numeric; nil is passed over).
      def <<(value)
        return self if value.nil?

        keep(value) if (@count % @stride).zero?
        @count += 1
        @last = value
        self
      end

      # At most LIMIT + 1 values, oldest first; the newest is always among them.
      def values
        ((@count - 1) % @stride).zero? ? @values.dup : [*@values, @last]
      end

      private

      def keep(value)
        if @values.size == LIMIT
          @values = @values.each_slice(2).map(&:first)
          @stride *= 2
          return unless (@count % @stride).zero?
        end
        @values << value
      end
    end

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
        @older = @mark = nil if @now && reading.breaks?(@now)
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
        @mark = reading.tap(&:keep)
      end
    end
  end
end
