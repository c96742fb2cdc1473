# frozen_string_literal: true

require_relative "sparkline"
require_relative "units"

module Heapline
  module Format
    # The columns of `heapline growth`, for Format::Table: each with the figure of Model::Growth::Series that sorts it.
    module GrowthColumns
      SPARK = 16
      # key and title; sorted: Proc from a Series to a number; text of a Series
      Column = Struct.new(:key, :title, :sorted, :words, keyword_init: true) do
        def value(row)
          sorted.call(row.series)
        end

        # Columns of the screen that it takes at least.
        def least
          0
        end

        def text(row)
          words.call(row)
        end
      end

      # The Series of a Model::Growth in the order of a key of KEYS.
      def self.sort(growth, key)
        return growth.series if key == :slope

        column = ALL.find { |one| one.key == key }
        growth.series.sort_by { |series| -column.sorted.call(series) }
      end

      # Bytes with a sign, as growth is read.
      def self.signed(number)
        number.nil? ? "?" : "#{"+" if number.round.positive?}#{Units.bytes(number.round)}"
      end

      def self.interval(series)
        return "?" unless series.slope_low

        "#{signed(series.slope_low)} to #{signed(series.slope_high)}"
      end

      def self.column(key, title, words, &sorted)
        Column.new(key: key, title: title, sorted: sorted, words: words)
      end
      private_class_method :column

      ALL = [
        column(:verdict, "verdict", ->(row) { row.series.verdict.to_s }) { 0 },
        column(:slope, "an hour", ->(row) { signed(row.series.slope_bytes_per_hour) }, &:slope_bytes_per_hour),
        column(:interval, "99 % interval", ->(row) { interval(row.series) }) { 0 },
        column(:growth, "growth", ->(row) { signed(row.series.growth_bytes) }, &:growth_bytes),
        column(:live, "live", ->(row) { Units.bytes(row.series.live_bytes) }, &:live_bytes),
        column(:rate, "allocated/s", ->(row) { Units.bytes(row.series.alloc_bytes_per_s) }, &:alloc_bytes_per_s),
        column(:processes, "in", ->(row) { Units.count(row.series.processes) }, &:processes),
        column(:trend, "trend", lambda { |row|
          Sparkline.text(row.series.points.map(&:last), width: SPARK, unicode: row.unicode)
        }) { 0 }
      ].freeze
      # What --sort takes.
      KEYS = %i[slope growth live rate].freeze
      # What goes first where the screen is narrow.
      LEAST = %i[rate processes live interval growth trend].freeze
    end
  end
end
