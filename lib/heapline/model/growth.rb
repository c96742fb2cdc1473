# frozen_string_literal: true

require_relative "growth/chart"
require_relative "growth/judgement"
require_relative "growth/life"
require_relative "growth/series"
require_relative "normalised_location"
require_relative "snapshot"

module Heapline
  module Model
    # How the memory of processes grew over a growth log: for each site, over all processes and deploys, a Series with
    # its verdict. Frozen.
    class Growth
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

      # What makes a site the same in all deploys. one: a Series, or a Hash of Native::GrowthStore.
      def self.key(one)
        location, label, library, kind = %i[location label library kind].map { |name| one[name] }
        place = if kind == "native" then NormalisedLocation.native(location, label, library)
                elsif location then NormalisedLocation.of(location)
                end
        [place, library && NormalisedLocation.library(library), one[:gem], one[:tag], kind]
      end

      # series: Array of Series, those that leak first, then by the certain part of their slope. memory: Hash of name =>
      # Series of the processes' own figures: "rss", "malloc_live", "pss" and the ledger's lines. processes: Array of
      # Process. counts: Hash of what became of the lines. by: :site, :file, :gem, :library or :tag.
      attr_reader :series, :memory, :processes, :counts, :by

      # processes, series: Arrays of the Hashes that Native::GrowthStore gives (series: anything with each).
      def initialize(processes:, series:, counts: {}, by: :site)
        @by = by
        @counts = counts
        @newest = processes.map { |process| process[:last_ms] }.max
        @oldest = processes.map { |process| process[:first_ms] }.min
        @all_over = processes.none? { |process| running?(process) }
        @processes = processes.map { |process| process(process) }.freeze
        sites, memory = series.partition { |one| one[:kind] != "memory" }
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

      # Array of the Series with a verdict.
      def with_verdict(name)
        series.select { |one| one.verdict == name }
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

      def joined(raw)
        raw.group_by { |one| Growth.key(one) }.map { |_, members| series_of(members) }
      end

      def series_of(members)
        lives = members.map { |one| Life.new(**one.slice(:process, :windows, :temporary_share, :alloc_bytes_per_s)) }
        newest = members.max_by { |one| one[:windows].last[2] }
        judgement = Judgement.new(lives)
        Series.new(location: place(newest), **newest.slice(:label, :gem, :library, :tag, :kind),
                   verdict: judgement.verdict, **slopes(judgement.trend), **figures(lives),
                   points: Chart.points(lives, from: @oldest))
      end

      def place(one)
        return one[:location] if by == :site || one[:kind] == "memory"

        one[by == :file ? :location : by] || Snapshot::UNNAMED.fetch(by)
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
        [one.verdict == :leak ? 0 : 1, -one.cost, -one.growth_bytes, one.location.to_s]
      end
    end
  end
end
