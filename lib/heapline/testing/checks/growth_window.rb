# frozen_string_literal: true

require_relative "../findings"
require_relative "../growth_rule"
require_relative "sampler"

module Heapline
  module Checks
    # Measuring points over some rounds of a growth check, and what they say. Its own objects between two points are
    # garbage at the next one; what it keeps is the Sampler's alone.
    # @api private
    class GrowthWindow
      # Measuring points in a round.
      POINTS = 10
      SERIES = [Sampler::BLOCKS, Sampler::BYTES].freeze

      # What Ruby makes at the first use of a line it makes for the lines of these files too: in no point that counts.
      def self.rehearse(lines)
        window = new(1, POINTS, lines, objects: true)
        window.take { nil }
        window.risen?
        window.verdict
      end

      # rounds of `iterations` runs each; lines: Lines of interest; objects: look at Ruby's object heap too? final: will
      # there be no other window after it?
      def initialize(rounds, iterations, lines, objects:, final: false)
        @iterations = iterations
        @lines = lines
        @objects = objects
        @final = final
        @batches = rounds * POINTS
        @sampler = Sampler.new(@batches + 1)
      end

      # The generation in which it began.
      attr_reader :since

      # Take all points; yields how many runs are to come before the next one.
      def take
        @sampler.take
        @since = Native.generation
        @batches.times do |batch|
          yield runs(batch + 1) - runs(batch)
          @sampler.take
        end
      end

      # Is there more than after the first batch, as the last point but one and the last say?
      def risen?
        series.any? do |values|
          floor = Testing::GrowthRule.floor(values.drop(1))
          floor[-2] > floor.first
        end
      end

      # :grows where any series does, else :unclear where any is, else :not.
      def verdict
        verdicts = series.map { |values| rule(values).verdict }.uniq
        %i[grows unclear].find { |verdict| verdicts.include?(verdict) } || :not
      end

      # The lines whose memory grows: Array of GrowthFinding, the steepest first.
      def memory
        Heapline.quiet do
          sites.filter_map { |location, numbers| finding(location, *SERIES.map { |what| rule(sum(numbers, what)) }) }
               .sort_by { |finding| -finding.slope }
        end
      end

      def objects_grow?
        @objects && rule(@sampler.slots).verdict == :grows
      end

      # The GrowthFinding of Ruby objects; lines: those that keep them, Array of RetainedLine.
      def objects(lines)
        rule = rule(@sampler.slots)
        Testing::GrowthFinding.new(kind: :objects, **slope(rule), lines: lines)
      end

      private

      # How many runs there are before a point.
      def runs(point)
        (point / POINTS * @iterations) + (point % POINTS * @iterations / POINTS)
      end

      # All series of interest: Array of Arrays of values.
      def series
        Heapline.quiet do
          found = sites.flat_map { |_, numbers| SERIES.map { |what| sum(numbers, what) } }
          @objects ? [@sampler.slots, *found] : found
        end
      end

      # Where there is more at the end than at the beginning: Array of [Location, numbers of the sites that are one to a
      # reader].
      def sites
        numbers = @sampler.risen
        return [] if numbers.empty?

        found = Accounting::Flight.choose(Native.flight_fd, live: true) { numbers }[:sites]
        same = found.select { |_, site| @lines.of_interest?(site) }.group_by { |_, site| key(site) }.values
        same.map { |pairs| [pairs.first.last.location, pairs.map(&:first)] }
      end

      # Not the tag: a label that is new with each run is no other line.
      def key(site)
        [site.location.to_s, site.location.label, site.location.library]
      end

      def sum(numbers, what)
        numbers.map { |number| @sampler.series(number, what) }.transpose.map(&:sum)
      end

      def rule(values)
        Testing::GrowthRule.new(values.each_with_index.map { |value, point| [runs(point), value] }, final: @final)
      end

      def finding(location, blocks, bytes)
        return unless [blocks, bytes].any? { |rule| rule.verdict == :grows }

        Testing::GrowthFinding.new(kind: :memory, location: location, blocks: blocks.trend.slope, **slope(bytes))
      end

      def slope(rule)
        { slope: rule.trend.slope, low: rule.trend.low, high: rule.trend.high, rise: rule.rise,
          iterations: runs(@batches) }
      end
    end
  end
end
