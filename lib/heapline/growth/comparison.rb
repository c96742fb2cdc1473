# frozen_string_literal: true

require_relative "history"

module Heapline
  module Growth
    # How fast sites grow in one growth log against another, such as of the deploys before and after: rates, and not the
    # live bytes of a Comparison, since one log may be longer than the other. Frozen.
    class Comparison
      # One site, or group of sites. before, after: Growth::Series, or nil where the log does not list it. A log lists
      # what is largest or grows most, so what it does not list counts as not growing.
      Change = Struct.new(:before, :after) do
        # Places::Location; of what is gone the last one.
        def location
          (after || before).place
        end

        def tag
          (after || before).tag
        end

        # Bytes an hour in each process, and live bytes at the end.
        def before_rate
          before&.slope_bytes_per_hour || 0.0
        end

        def after_rate
          after&.slope_bytes_per_hour || 0.0
        end

        def change
          after_rate - before_rate
        end

        def live_bytes
          after&.live_bytes || 0
        end

        # :faster or :slower where the 99 % intervals of the two slopes are apart, :unsure where one has none (too few
        # lines), else :same.
        def direction
          old, new = [before, after].map { |series| interval(series) }
          return :unsure unless old.all? && new.all?
          return :faster if new.first > old.last

          new.last < old.first ? :slower : :same
        end

        private

        def interval(series)
          series ? [series.slope_low, series.slope_high] : [0.0, 0.0]
        end
      end

      ORDER = %i[faster slower unsure same].freeze

      # before, after: Growth. changes: Array of Change, those that grow faster first, each kind by how much it changed.
      attr_reader :before, :after, :changes

      def initialize(before, after)
        @before = before
        @after = after
        olds, news = [before, after].map { |growth| growth.series.to_h { |series| [History.key(series), series] } }
        @changes = ordered((news.keys | olds.keys).map { |key| Change.new(olds[key], news[key]).freeze }).freeze
        freeze
      end

      # Array of the Changes of this direction.
      def of(direction)
        changes.select { |change| change.direction == direction }
      end

      private

      def ordered(changes)
        changes.sort_by do |change|
          [ORDER.index(change.direction), -change.change.abs, -change.live_bytes, change.location.to_s]
        end
      end
    end
  end
end
