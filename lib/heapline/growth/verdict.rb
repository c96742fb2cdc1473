# frozen_string_literal: true

require_relative "theil_sen"

module Heapline
  module Growth
    # How a site's live bytes move, judged by the rules of docs/accuracy.md. What is looked at is the lower envelope:
    # the lowest live bytes of each of about ten stretches of a life, because what is in flight comes and goes above
    # it, and what is retained stays below it.
    # @api public
    class Verdict
      # Of a process with fewer lines nothing is said.
      LEAST_LINES = 12
      # Standard errors on each side of the slope: an interval of 99 %.
      REACH = 2.576
      # A rise of fewer bytes is no growth, however sure it is.
      LEAST_RISE = 16_000
      # What grows while no GC runs may be garbage.
      LEAST_GENERATIONS = 3
      # While a process starts, in its first minutes, what grows by less than this (bytes) may be what it loads.
      START = 180_000
      LEAST_START_RISE = 1_000_000
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
      # Garbage that waits is live for as many GCs as the blocks that were freed, or so many more: in real programs that
      # churn it was up to 0.12.
      WAITS = 0.3
      # That GCs became rarer need not be as sure as growth: what waits tells, too. Standard errors: 95 % on one side.
      RARER = 1.645
      # Shares for churn: what dies young, and how often the live bytes are allocated anew.
      YOUNG = 0.8
      TURNOVER = 10

      # One thing that was looked at: its name, what was found, the limit, whether it holds.
      Fact = Struct.new(:name, :found, :limit, :holds)

      # Over all lives of a site (at least one). All of them together are asked first. Where they do not show a leak,
      # each is asked alone, since one worker of many may leak; so that many questions do not make a false answer
      # likely, each must then be surer by as much as there are lives (Bonferroni). The verdict is then about those that
      # leak.
      def self.over(lives)
        together = new(lives)
        return together if together.name == :leak || lives.size == 1

        reach = reach(lives.size)
        leaking = lives.select { |life| new([life], reach: reach).leak? }
        leaking.empty? ? together : new(leaking, name: :leak, facts: new(leaking.first(1), reach: reach).facts)
      end

      # How many standard errors lie on each side when `count` are asked: the same chance of any false answer.
      def self.reach(count)
        chance = Math.erfc(REACH / Math.sqrt(2)) / count
        low = REACH
        high = 40.0
        60.times { Math.erfc((middle = (low + high) / 2) / Math.sqrt(2)) > chance ? low = middle : high = middle }
        low
      end

      # lives: Array of Life. name: the verdict, where it is known; facts: those that made it so.
      def initialize(lives, reach: REACH, name: nil, facts: [])
        @lives = lives.select { |life| life.windows.size >= LEAST_LINES }
        @all = lives
        @reach = reach
        @name = name
        @facts = facts
      end

      # What was looked at, in that order: an Array of Fact.
      def facts
        name
        @facts
      end

      # :leak, :cache, :bloat, :churn, :steady, or :unsure where the log does not tell yet.
      def name
        @name ||= judge
      end

      # Whether it is a leak. That most of many lives do not grow is soon told.
      def leak?
        certain? && rise >= LEAST_RISE && name == :leak
      end

      # Of what there must be more before it is sure, and how much there is: "3 GCs: 2 so far"; else nil.
      def needs
        @needs if name == :unsure
      end

      # TheilSen of what goes on, bytes a ms: of a cache since it is full, of bloat beside its step, else of the
      # lower envelope. What does not grow has no slope but one that is sure: that of what comes and goes is chance.
      def trend
        case name
        when :leak, :unsure then whole
        when @waiting then TheilSen.new(slope: 0.0, low: [whole.low, 0.0].min, high: whole.high)
        when :cache then sure(TheilSen.of(@lives.map { |life| late(life.points) }, reach: @reach))
        else sure(name == :bloat ? @beside : whole)
        end
      end

      private

      def sure(trend)
        trend.low.positive? || trend.high.negative? ? trend : TheilSen.new(slope: 0.0, low: trend.low, high: trend.high)
      end

      def judge
        lines = most(@all) { |life| life.windows.size }
        return unsure("#{LEAST_LINES} lines", lines) unless least(:lines, lines, LEAST_LINES)
        return settled(:bloat) if step?
        return small unless grows?
        return :steady if load?
        return settled(:cache) unless still?

        garbage? ? waiting : leak
      end

      def small
        return settled(:cache) if filled?

        certain? && !started? ? few_minutes : churn_or_steady
      end

      # A level that was left again is none.
      def settled(found)
        least(:stayed, @lives.sum(&:growth_bytes), LEAST_RISE) ? seen(found) : churn_or_steady
      end

      def leak
        started? ? seen(:leak) : few_minutes
      end

      def few_minutes
        unsure("#{START / 60_000} minutes", "#{(longest_ms / 1000).round} s")
      end

      # What no GC has seen may be garbage.
      def seen(found)
        gcs = most(@lives) { |life| life.generations || LEAST_GENERATIONS }
        least(:gcs, gcs, LEAST_GENERATIONS) ? found : unsure("#{LEAST_GENERATIONS} GCs", gcs)
      end

      def unsure(what, there)
        @needs = "#{what}: #{there} so far"
        :unsure
      end

      def most(lives, &)
        lives.map(&).max
      end

      # Is it more than what a process loads while it starts?
      def started?
        least(:time, longest_ms, START) || least(:start, rise, LEAST_START_RISE)
      end

      def longest_ms
        most(@lives) { |life| life.last_ms - life.first_ms }
      end

      # The lower envelope's.
      def whole
        @whole ||= TheilSen.of(envelopes, reach: @reach)
      end

      def late(points)
        points.last(points.size / 2)
      end

      def envelopes
        @envelopes ||= (@lives.empty? ? @all : @lives).map(&:envelope)
      end

      def grows?
        fact(:certain, whole.low, 0, certain?) && least(:rise, rise, LEAST_RISE)
      end

      def certain?
        whole.low.positive?
      end

      def rise
        whole.slope * envelopes.map { |points| points.last.first - points.first.first }.max
      end

      # The second half of each life rises, and not much less than the whole of it.
      def still?
        late = TheilSen.of(envelopes.map { |points| points.last((points.size / 2) + 1) }, reach: 0)
        least(:still, late.slope / [whole.slope, mean_slope].max, STILL)
      end

      def mean_slope
        ends = envelopes.map { |points| [points.first, points.last] }
        ends.sum { |first, last| last[1] - first[1] } / ends.sum { |first, last| last[0] - first[0] }
      end

      # It grew at first, and the second half of the life lies on one level well above the beginning.
      def filled?
        points = longest.points
        late = late(points)
        height = median(late) - points.first.last
        least(:filled, height, [LEAST_RISE, 4 * spread(late), FILLED * median(late)].max)
      end

      # One step in the life that moved most: the medians before and after it, and no trend beside it.
      def step?
        points = longest.points
        at = step_in(points)
        before = points[...at]
        after = points[at..]
        height = median(after) - median(before)
        return false unless least(:step, height, [LEAST_RISE, 4 * spread(before), 4 * spread(after)].max)

        @beside = TheilSen.of([before, after], reach: @reach)
        under(:beside, (@beside.slope * (points.last.first - points.first.first)).abs, (1 - STEP) * height)
      end

      # Where the medians before and after differ most; of places that are alike in that, where these points lie closest
      # to them: between two level parts that is the step itself.
      def step_in(points)
        places = (3..(points.size - 3)).group_by { |i| median(points[i..]) - median(points[...i]) }
        places.max.last.min_by { |i| apart(points[...i]) + apart(points[i..]) }
      end

      def apart(points)
        middle = median(points)
        points.sum { |_, value| (value - middle).abs }
      end

      # More load explains it: allocations came faster and faster, and what was live stayed in proportion to them
      # (Little's law: live = rate × residence time). Where much of what is allocated stays, it is no load.
      def load?
        return false unless fact(:kept, kept, KEPT, kept <= KEPT)

        faster = TheilSen.of(stretches(&:rate), reach: 1).low
        return false unless fact(:faster, faster, 0, faster.positive?)

        residence = stretches(&:residence)
        times = TheilSen.of(residence, reach: @reach)
        longer = times.low <= 0 ? 0.0 : relative(times, residence) / relative(whole, envelopes)
        under(:longer, longer, RESIDENCE)
      end

      # Garbage explains it: GCs became rarer (Ruby's limit for malloc grows while memory grows elsewhere), so more is
      # allocated from one to the next, dies, and waits. Little's law again, with GCs as the unit of time: live = bytes
      # allocated from one GC to the next × GCs that a block lives through. What was freed tells how many these are;
      # what is kept comes on top of that, as it is never freed. So where no more is live, and that grows only with what
      # is allocated from one GC to the next, nothing is seen to be kept.
      def garbage?
        return false unless kept <= KEPT && ages?

        rarer = TheilSen.of(stretches(&:gc_rate), reach: RARER).low
        return false unless fact(:rarer, rarer, 0, rarer.positive?)
        return false unless @lives.all? { |life| waits?(life) }

        residence = stretches(&:gc_residence)
        times = TheilSen.of(residence, reach: @reach)
        under(:older, relative(times, residence) / relative(whole, envelopes), RESIDENCE)
      end

      def ages?
        @lives.all? { |life| life.age_mean_generations && (life.generations || 0) >= LEAST_GENERATIONS }
      end

      # In the second half of the life.
      def waits?(life)
        under(:waits, TheilSen.median(late(life.stretches).map(&:gc_residence).sort), life.age_mean_generations + WAITS)
      end

      # Nothing of it is sure to grow.
      def waiting
        @waiting = churn_or_steady
      end

      # A slope as a part of the values that it belongs to.
      def relative(trend, lives)
        trend.slope / [TheilSen.median(lives.flat_map { |points| points.map(&:last) }.sort), Float::MIN].max
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
        least(:young, young, YOUNG) && least(:turnover, most(@all, &:turnover), TURNOVER) ? :churn : :steady
      end

      # Each notes what was looked at, and returns whether it holds.
      def least(name, found, limit)
        fact(name, found, limit, found >= limit)
      end

      def under(name, found, limit)
        fact(name, found, limit, found < limit)
      end

      def fact(name, found, limit, holds)
        @facts << Fact.new(name, found, limit, holds).freeze
        holds
      end

      def median(points)
        TheilSen.median(points.map(&:last).sort)
      end

      def spread(points)
        middle = median(points)
        TheilSen.median(points.map { |_, value| (value - middle).abs }.sort) * 1.4826
      end
    end
  end
end
