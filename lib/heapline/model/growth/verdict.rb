# frozen_string_literal: true

require_relative "trend"

module Heapline
  module Model
    class Growth
      # How a site's live bytes move, judged by the rules of docs/accuracy.md. What is looked at is the lower envelope:
      # the lowest live bytes of each of about ten stretches of a life, because what is in flight comes and goes above
      # it, and what is retained stays below it.
      class Verdict
        # Of a process with fewer lines nothing is said.
        LEAST_LINES = 12
        # Standard errors on each side of the slope: an interval of 99 %.
        REACH = 2.576
        # A rise of fewer bytes is no growth, however sure it is.
        LEAST_RISE = 16_000
        # What grows while no GC runs may be garbage.
        LEAST_GENERATIONS = 3
        # Growth goes on where the second half of a life rises at least so fast, compared with the whole.
        STILL = 0.4
        # One step makes so much of the rise.
        STEP = 0.75
        # So much of a cache came while it was looked at.
        FILLED = 0.3
        # Where more of what is allocated stays, load does not explain growth.
        KEPT = 0.2
        # So much of the growth must be that bytes stay longer, where they also come faster.
        RESIDENCE = 0.5
        # Shares for churn: what dies young, and how often the live bytes are allocated anew.
        YOUNG = 0.8
        TURNOVER = 10

        # lives: Array of Life
        def initialize(lives, reach: REACH)
          @lives = lives.select { |life| life.windows.size >= LEAST_LINES }
          @all = lives
          @reach = reach
        end

        # :leak, :cache, :bloat, :churn or :steady
        def name
          @name ||= judge
        end

        # Trend of the lower envelope, bytes a millisecond.
        def trend
          @trend ||= Trend.of(envelopes, reach: @reach)
        end

        private

        def judge
          return churn_or_steady if @lives.empty?
          return :bloat if step?
          return filled? ? :cache : churn_or_steady unless grows?
          return :steady if load?

          still? ? :leak : :cache
        end

        def envelopes
          @envelopes ||= (@lives.empty? ? @all : @lives).map(&:envelope)
        end

        def grows?
          trend.low.positive? && rise >= LEAST_RISE && gcs?
        end

        def gcs?
          @lives.any? { |life| (life.generations || LEAST_GENERATIONS) >= LEAST_GENERATIONS }
        end

        def rise
          trend.slope * envelopes.map { |points| points.last.first - points.first.first }.max
        end

        # The second half of each life rises, and not much less than the whole of it.
        def still?
          late = Trend.of(envelopes.map { |points| points.last((points.size / 2) + 1) }, reach: 0)
          late.slope >= STILL * [trend.slope, mean_slope].max
        end

        def mean_slope
          ends = envelopes.map { |points| [points.first, points.last] }
          ends.sum { |first, last| last[1] - first[1] } / ends.sum { |first, last| last[0] - first[0] }
        end

        # It grew at first, and the second half of the life lies on one level well above the beginning.
        def filled?
          points = longest.points
          late = points.last(points.size / 2)
          height = median(late) - points.first.last
          height >= LEAST_RISE && height >= 4 * spread(late) && height >= FILLED * median(late)
        end

        # One step in the life that moved most: the medians before and after it, and no trend beside it.
        def step?
          points = longest.points
          at = (3..(points.size - 3)).max_by { |i| median(points[i..]) - median(points[...i]) }
          before = points[...at]
          after = points[at..]
          height = median(after) - median(before)
          return false if height < LEAST_RISE || height < 4 * [spread(before), spread(after)].max

          beside = Trend.of([before, after], reach: @reach)
          (beside.slope * (points.last.first - points.first.first)).abs < (1 - STEP) * height
        end

        # More load explains it: allocations came faster and faster, and what was live stayed in proportion to them
        # (Little's law: live = rate × residence time). Where much of what is allocated stays, it is no load.
        def load?
          return false if kept > KEPT || Trend.of(stretches(&:rate), reach: 1).low <= 0

          residence = stretches(&:residence)
          times = Trend.of(residence, reach: @reach)
          times.low <= 0 || relative(times, residence) < RESIDENCE * relative(trend, envelopes)
        end

        # A slope as a part of the values that it belongs to.
        def relative(trend, lives)
          trend.slope / [Trend.median(lives.flat_map { |points| points.map(&:last) }.sort), Float::MIN].max
        end

        # The life that is told by most windows.
        def longest
          @longest ||= @lives.max_by { |life| life.windows.size }
        end

        def kept
          @lives.map(&:kept).max
        end

        def stretches
          @lives.map { |life| life.stretches.map { |stretch| [stretch.ms, yield(stretch)] } }
        end

        def churn_or_steady
          young = @all.map(&:temporary_share).compact.max || 0
          young >= YOUNG && @all.any? { |life| life.turnover >= TURNOVER } ? :churn : :steady
        end

        def median(points)
          Trend.median(points.map(&:last).sort)
        end

        def spread(points)
          middle = median(points)
          Trend.median(points.map { |_, value| (value - middle).abs }.sort) * 1.4826
        end
      end
    end
  end
end
