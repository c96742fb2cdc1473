# frozen_string_literal: true

require_relative "../frozen"
require_relative "life"
require_relative "verdict"
require_relative "../places/location"
require_relative "../accounting/snapshot"

module Heapline
  module Growth
    # How one site, or one group of sites, grew over a log. A frozen plain value.
    #
    # location, label, gem, library, tag, kind:: as in the log; of several deploys the newest. With a group all but
    #                         its own name are nil, and location is that name.
    # processes::             Integer: how many it was seen in
    # verdict::               :leak, :cache, :bloat, :churn, :steady or :unsure
    # needs::                 of what there must be more before it is sure: "3 GCs: 2 so far"; else nil
    # facts::                 what made the verdict, an Array of Verdict::Fact
    # slope_bytes_per_hour::  Float, of one process: the median over all of them, or where only some leak, over those
    # slope_low, slope_high:: its 99 % interval; nil where the lines are too few for one
    # live_bytes::            now: over the processes that were still there at the end of the log
    # growth_bytes::          over all processes, from the first line of each to its last
    # alloc_bytes_per_s::     at the last lines, over the processes that were still there
    # temporary_share::       0..1, or nil where unknown
    # points::                Array of [seconds since the log's first line, live bytes over all processes]
    # @api public
    Series = Struct.new(:location, :label, :gem, # rubocop:disable Lint/StructNewOverride -- Kernel's is private
                        :library, :tag, :kind, :processes, :verdict, :needs, :facts, :slope_bytes_per_hour,
                        :slope_low, :slope_high, :live_bytes, :growth_bytes, :alloc_bytes_per_s, :temporary_share,
                        :points, keyword_init: true) do
      include Frozen

      # As a row of a table has it: of the bytes allocated alone.
      def rate(figure)
        { bytes_allocated: alloc_bytes_per_s }.fetch(figure)
      end

      # The Location that is meant; of a group its name.
      def place
        path, lineno = location.to_s.match(/\A(.*):(\d+)\z/m)&.captures if kind == "ruby"
        return Places::Location.new(path: path, lineno: lineno.to_i, label: label, library: library) if path
        return Places::Location.new(special: location.to_s) unless kind == "native"

        Places::Location.new(offset: location[/\+0x(\h+)\z/, 1].to_s.hex, label: label, library: library)
      end

      # What a Snapshot has of it.
      def site
        live = { live_bytes: points.map(&:last).max || 0, growth_bytes: growth_bytes, retained_bytes: growth_bytes }
        Accounting::Site.new(location: place, kind: kind&.to_sym, tag: tag, **Accounting::Site::ZERO, **live)
      end
    end

    # How the memory of processes grew over a growth log: for each site, over all processes and deploys, a Series with
    # its verdict. Frozen.
    # @api public
    class History
      # What one process left in the log. Times are Time; dropped_lines is what its writer could not write, gaps how
      # often lines are missing.
      Process = Struct.new(:host, :pid, :command, :ruby, :state, :first_at, :last_at, :lines, :gaps, :dropped_lines,
                           :here, keyword_init: true)
      # Names of the series of `memory`, in the order in which they are shown.
      MEMORY = %w[rss malloc_live].freeze
      # A process whose last line is so many intervals older than the log's newest is gone, whatever the line says.
      # Where all have ended, those that ended last are what the log ends with.
      SILENCE = 3
      LIVING = "running"

      # Figures that a series has as a site has them, and what series are ordered by: the largest first. :slope is how
      # `series` are.
      FIGURES = [*Figures::SiteFigures.fetch_values(:growth, :live),
                 Figures::SiteFigures::RATES.fetch(:bytes_allocated)].freeze
      ORDERS = { slope: nil, **FIGURES.to_h { |column| [column.key, column] } }.freeze
      # What a Life takes from the Hashes of Native::GrowthStore.
      LIFE = %i[process windows temporary_share age_mean_generations alloc_bytes_per_s].freeze
      private_constant :LIFE

      # What makes a site the same in all deploys. one: a Series, or a Hash of Native::GrowthStore.
      def self.key(one)
        location, label, library, kind = %i[location label library kind].map { |name| one[name] }
        place = if kind == "native" then Places::NormalisedLocation.native(location, label, library)
                elsif location then Places::NormalisedLocation.of(location)
                end
        library = nil if %w[ruby special].include?(kind) # several may call malloc for a line
        [place, library && Places::NormalisedLocation.library(library), one[:gem], one[:tag], kind]
      end

      # series: Array of Series, those that leak first, each part by its slope. memory: Hash of name =>
      # Series of the processes' own figures: "rss", "malloc_live", "pss" and the ledger's lines. processes: Array of
      # Process. counts: Hash of what became of the lines. by: :site, :file, :gem, :library or :tag.
      attr_reader :series, :memory, :processes, :counts, :by

      # processes: Array of the Hashes that Native::GrowthStore gives. sites: Array of [Hash of names, the Hashes of its
      # series (anything with to_a): they are asked for site by site, as all of them at once may be large].
      def initialize(processes:, sites:, counts: {}, by: :site)
        @by = by
        @counts = counts
        @newest = processes.map { |process| process[:last_ms] }.max
        @oldest = processes.map { |process| process[:first_ms] }.min
        @all_over = processes.none? { |process| running?(process) }
        @processes = processes.map { |process| process(process) }.freeze
        sites, memory = sites.partition { |names, _| names[:kind] != "memory" }
        @series = joined(sites).sort_by { |one| rank(one) }.freeze
        @memory = joined(memory).to_h { |one| [one.location, one] }.freeze
        freeze
      end

      # Seconds from the first line to the last (Float); nil without lines.
      def duration
        @newest && ((@newest - @oldest) / 1000)
      end

      # Time of the first line and of the last; nil without lines.
      def first_at
        @oldest && Time.at(0, @oldest.round, :millisecond)
      end

      def last_at
        @newest && Time.at(0, @newest.round, :millisecond)
      end

      # The Series in the order of a key of ORDERS.
      def sorted(key)
        column = ORDERS.fetch(key)
        column ? series.sort_by { |one| -column.value(one) } : series
      end

      # Array of the Series with a verdict.
      def with_verdict(name)
        series.select { |one| one.verdict == name }
      end

      # What the log says as a Snapshot: the sites that it lists (by: :site), each with the most bytes that were live at
      # a time over all processes, since at its end they may have ended. Blocks and calls are not in it: they are 0.
      def snapshot
        one = processes.first if processes.size == 1
        command = [processes.first.command, *("and others" unless one)]
        Accounting::Snapshot.new(pid: one&.pid, command: command, ruby: one&.ruby, state: :copied, taken_at: last_at,
                                 sites: series.map(&:site))
      end

      private

      def process(raw)
        here = running?(raw) || (@all_over && recent?(raw))
        Process.new(here: here, first_at: Time.at(0, raw[:first_ms].round, :millisecond),
                    last_at: Time.at(0, raw[:last_ms].round, :millisecond), dropped_lines: raw[:dropped_lines].to_i,
                    **raw.slice(:host, :pid, :command, :ruby, :state, :lines, :gaps)).freeze
      end

      def running?(raw)
        (raw[:state] || LIVING) == LIVING && recent?(raw)
      end

      def recent?(raw)
        @newest - raw[:last_ms] <= SILENCE * [(raw[:every_s] || 0) * 1000, 1000].max
      end

      def joined(sites)
        sites.group_by { |names, _| History.key(names) }.map do |_, members|
          series_of(members.flat_map { |_, series| series.to_a })
        end
      end

      def series_of(members)
        lives = members.map { |one| Life.new(**one.slice(*LIFE)) }
        newest = members.max_by { |one| one[:windows].last[2] }
        verdict = Verdict.over(lives)
        Series.new(location: place(newest), **newest.slice(:label, :gem, :library, :tag, :kind),
                   verdict: verdict.name, needs: verdict.needs, facts: verdict.facts,
                   **slopes(verdict.trend), **figures(lives), points: Life.added(lives, from: @oldest))
      end

      def place(one)
        return one[:location] if by == :site || one[:kind] == "memory"

        one[by == :file ? :location : by] || Accounting::Snapshot::UNNAMED.fetch(by)
      end

      def slopes(trend)
        hour = 3_600_000
        { slope_bytes_per_hour: trend.slope * hour, slope_low: trend.low.finite? ? trend.low * hour : nil,
          slope_high: trend.high.finite? ? trend.high * hour : nil }
      end

      def figures(lives)
        here = lives.select { |life| @processes[life.process].here }
        { processes: lives.map(&:process).uniq.size, live_bytes: here.sum(&:live_bytes),
          growth_bytes: lives.sum(&:growth_bytes), alloc_bytes_per_s: here.sum(&:alloc_bytes_per_s).round,
          temporary_share: lives.max_by(&:allocated).temporary_share }
      end

      def rank(one)
        [one.verdict == :leak ? 0 : 1, -one.slope_bytes_per_hour, -one.growth_bytes, one.location.to_s]
      end
    end
  end
end
