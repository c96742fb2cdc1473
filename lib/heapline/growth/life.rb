# frozen_string_literal: true

module Heapline
  module Growth
    # One site (or group of sites) in one process, from its first line in the log to its last. A frozen plain value.
    # Times are ms since 1970 on the process's own clock, sizes are bytes, rates bytes a ms.
    class Life
      # Part of a life: its lowest live bytes and when they were, and the mean; how fast the site allocated, in bytes a
      # ms and in bytes from one GC to the next; how long a byte stays, in ms and in GCs: live divided by rate (Little's
      # law, whose unit of time may be any), and for ever where nothing is allocated.
      Stretch = Struct.new(:ms, :low, :mean, :rate, :gc_rate, keyword_init: true) do
        def residence = stay(low, rate)

        # Garbage too, so of the mean.
        def gc_residence = stay(mean, gc_rate)

        private

        def stay(live, rate)
          rate.positive? ? live / rate : FOREVER
        end
      end
      # Longer than all that is, and still a number: the difference of two is 0.
      FOREVER = 1e100
      # Stretches that a life is cut into.
      STRETCHES = 10
      POINTS = 30
      # Moments of several lives together.
      MOMENTS = 60

      attr_reader :process, :windows, :stretches, :temporary_share, :age_mean_generations, :alloc_bytes_per_s

      # process: number of the process. windows: as Native::GrowthStore gives them, oldest first, at least one.
      # age_mean_generations: of the blocks that were freed; nil where unknown.
      def initialize(windows:, process: 0, temporary_share: nil, age_mean_generations: nil, alloc_bytes_per_s: 0.0)
        @process = process
        @windows = windows
        @temporary_share = temporary_share
        @age_mean_generations = age_mean_generations
        @alloc_bytes_per_s = alloc_bytes_per_s
        @stretches = parts(STRETCHES).map { |from, to| stretch(from, to) }.freeze
        freeze
      end

      # Several lives as one line: Array of [seconds since `from`, live bytes of those that were there] at some moments.
      # from: ms since 1970 of the log's first line.
      def self.added(lives, from:)
        first = lives.map(&:first_ms).min
        last = lives.map(&:last_ms).max
        step = (last - first) / (MOMENTS - 1)
        return [[seconds(first, from), lives.sum(&:live_bytes)]] unless step.positive?

        Array.new(MOMENTS) do |i|
          moment = i == MOMENTS - 1 ? last : first + (i * step)
          [seconds(moment, from), lives.sum { |life| life.live_at(moment) }.round]
        end
      end

      def self.seconds(moment, from)
        ((moment - from) / 1000).round(1)
      end
      private_class_method :seconds

      # Array of [ms, lowest live bytes], at most POINTS.
      def points
        parts(POINTS).map { |from, to| windows[from..to].min_by { |window| window[1] }.first(2) }
      end

      # The same, one a stretch.
      def envelope
        stretches.map { |stretch| [stretch.ms, stretch.low] }
      end

      def first_ms
        windows.first[0]
      end

      def last_ms
        windows.last[2]
      end

      # Live bytes at the last line.
      def live_bytes
        windows.last[3].round
      end

      # Live bytes at a moment (ms): those of the window before it; 0 before the life and after it.
      def live_at(moment)
        return 0 if moment < first_ms || moment > last_ms

        after = windows.bsearch_index { |window| window[2] > moment } || windows.size
        (after.zero? ? windows.first[1] : windows[after - 1][3]).round
      end

      # From the first window to the last line.
      def growth_bytes
        live_bytes - windows.first[1].round
      end

      # GC generations between the first window and the last; nil where the log does not say.
      def generations
        windows.last[5].zero? ? nil : windows.last[5] - windows.first[5]
      end

      def allocated
        windows.last[4] - windows.first[4]
      end

      # How often the live bytes were allocated anew.
      def turnover
        mean = windows.sum { |window| window[3] } / windows.size
        allocated / [mean, 1].max
      end

      # The share of what was allocated that is still live.
      def kept
        allocated.positive? ? growth_bytes / allocated : 1.0
      end

      private

      # The windows in at most `limit` parts: Array of [number of the first, of the last].
      def parts(limit)
        count = [limit, windows.size].min
        Array.new(count) { |i| [i * windows.size / count, ((i + 1) * windows.size / count) - 1] }
      end

      # Windows `from` to `to`. The rate of a life's first window is not known: its second window's stands for it.
      def stretch(from, to)
        ms, low = windows[from..to].min_by { |window| window[1] }
        before = [from - 1, 0].max
        after = before == to ? [to + 1, windows.size - 1].min : to
        time = windows[after][2] - windows[before][2]
        rate = time.positive? ? (windows[after][4] - windows[before][4]) / time : 0.0
        mean = windows[from..to].sum { |window| window[3] } / (to - from + 1)
        Stretch.new(ms: ms, low: low, mean: mean, rate: rate, gc_rate: gc_rate(from, to)).freeze
      end

      # Bytes allocated from one GC to the next in windows `from` to `to`, and in so many before them that there are two
      # GCs at least: with one the figure says more about where the lines lie between GCs. At the beginning of a life
      # the windows after them stand for those before.
      def gc_rate(from, to)
        before = [from - 1, 0].max
        before -= 1 until before.zero? || gcs(before, to) >= 2
        to += 1 until to == windows.size - 1 || gcs(before, to) >= 2
        (windows[to][4] - windows[before][4]) / [gcs(before, to), 1].max
      end

      def gcs(from, to)
        windows[to][5] - windows[from][5]
      end
    end
  end
end
