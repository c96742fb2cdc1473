# frozen_string_literal: true

require_relative "../terminal/sparkline"
require_relative "../figures/units"

module Heapline
  class Recording
    # What was live, RSS, Ruby's heap, what was allocated and GCs over time: each a row of small bars from nothing to
    # its highest value, as wide as the terminal. A part of a Table::Sheet for people; programs have the numbers.
    class Curves
      # Spans that are worth drawing: more than a terminal has columns.
      POINTS = 400
      # name:: of what; figures:: Array of Numeric by time; words:: about the highest
      Curve = Struct.new(:name, :figures, :words, keyword_init: true)

      # moments: Array of Recording::Moment, at least one
      def initialize(moments)
        @moments = moments
        @all = [curve("live", :most_bytes), curve("RSS", :rss), curve("Ruby heap", :heap_bytes), rate,
                collections].compact
      end

      # nil: it stands below no title.
      def title
        nil
      end

      # Array of String, with the time below.
      def lines(terminal)
        name = @all.map { |curve| curve.name.length }.max
        words = @all.map { |curve| curve.words.length }.max
        width = [terminal.width - name - words - 6, 8].max
        rows = @all.map do |curve|
          bars = Terminal::Sparkline.text(curve.figures, width: width, unicode: terminal.unicode?,
                                                         range: range(curve.figures))
          "  #{curve.name.ljust(name)}  #{bars.ljust(width)}  #{curve.words}"
        end
        [*rows, "  #{" " * name}  #{axis([width, @moments.size].min)}"]
      end

      private

      # nil where it was never sampled; before the first sample it is nothing.
      def curve(name, figure)
        values = @moments.map(&figure)
        return unless values.any?

        Curve.new(name: name, figures: values.map(&:to_i), words: Units.bytes(values.compact.max))
      end

      def rate
        values = @moments.map { |moment| moment.seconds.positive? ? moment.bytes_allocated / moment.seconds : 0 }
        Curve.new(name: "allocated", figures: values, words: "#{Units.bytes(values.max.round)} a second")
      end

      def collections
        values = @moments.map(&:collections)
        return if values.sum.zero?

        seconds = @moments.filter_map(&:gc_seconds).sum
        words = [Units.count(values.sum),
                 *("#{Units.duration(seconds)} in all" if seconds.positive?)].join(", ")
        Curve.new(name: "GCs", figures: values, words: words)
      end

      def range(values)
        0..[values.max, 1].max
      end

      # When it begins and ends.
      def axis(width)
        last = @moments.last
        from, to = [@moments.first.time, last.time + last.seconds].map { |time| Units.duration(time) }
        from.ljust([width - to.length, from.length + 1].max) + to
      end
    end
  end
end
