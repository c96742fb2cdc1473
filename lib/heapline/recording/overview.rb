# frozen_string_literal: true

require_relative "sheet"
require_relative "../figures/units"
require_relative "groups"

module Heapline
  class Recording
    # The answer of `heapline report CAPTURE`: a recording in totals, and of each kind of group the first five.
    class Overview
      TOP = 5
      GROUPS = { classes: :class, lines: :line, gems: :gem, libraries: :library, threads: :thread, tags: :tag }.freeze
      # Characters of the longest bar.
      BAR = 24

      # more: the commands that show more, an Array of [command, why]. top: rows of each table (0: all). whole: as for
      # Groups.listing.
      def initialize(metric: :peak, top: TOP, more: [], whole: false)
        @metric = metric
        @top = top
        @more = more
        @whole = whole
      end

      # Table::Sheet of a Recording::Summary. name: of the file; problems: Array of String
      def sheet(summary, name, problems)
        histograms = [histogram(:sizes, "by size", summary.sizes, :size),
                      histogram(:lifespans, "by lifespan of what was freed", summary.ages, :age)]
        parts = [totals(summary), (calls(summary) unless summary.objects?), *groups(summary), *histograms,
                 following].compact
        Sheet.of("report#{Groups.metric(@metric)}", [[name, summary]], parts, problems)
      end

      private

      def totals(summary)
        Table::Statement.new(key: :totals, title: nil, parts: sentences(summary), data: {
                               seconds: summary.seconds, events: summary.events, lost: summary.lost,
                               ending: summary.ending, collections: summary.collections,
                               gc_seconds: summary.gc_seconds, peak_at: summary.peak_at,
                               **summary.sums.to_h
                             })
      end

      def sentences(summary)
        sums = summary.sums
        noun = summary.objects? ? "object" : "block"
        ["#{counted(summary.events, "event")}#{rate(summary)}", *lost(summary),
         "allocated #{Units.bytes(sums.bytes_allocated)} in #{counted(sums.allocations, noun)}",
         "peak #{Units.bytes(sums.peak_bytes)} in #{counted(sums.peak_blocks, noun)} " \
         "at #{Units.duration(summary.peak_at)}",
         "live at the end #{Units.bytes(sums.live_bytes)} in #{counted(sums.live_blocks, noun)}",
         "temporary #{Units.bytes(sums.temporary_bytes)} in #{counted(sums.temporary_blocks, noun)}" \
         "#{share(sums.temporary_bytes, sums.bytes_allocated)}", collections(summary)]
      end

      def collections(summary)
        seconds = summary.gc_seconds
        time = ", the program stood still #{format("%.3f s", seconds)}#{share(seconds, summary.seconds)}" if seconds
        "#{counted(summary.collections, "GC")}#{time}"
      end

      def rate(summary)
        summary.rate ? ", #{Units.count(summary.rate.round)} a second" : ""
      end

      def lost(summary)
        summary.lost.zero? ? [] : ["#{Units.count(summary.lost)} lost"]
      end

      def share(part, all)
        all.zero? ? "" : format(" (%.1f %%)", 100.0 * part / all)
      end

      def counted(number, noun)
        "#{Units.count(number)} #{noun}#{"s" unless number == 1}"
      end

      def calls(summary)
        # Malloc's and mmap's apart: the one's memory is from the other.
        all = summary.calls.reject(&:release).group_by(&:mapping?).transform_values { |calls| calls.sum(&:bytes) }
        share = Figures::Columns::Column.new(key: :share, title: "share", unit: :share, figure: lambda do |call|
          call.bytes.fdiv(all[call.mapping?]) unless call.release || all[call.mapping?].zero?
        end)
        listing(:functions, "by function", summary.calls, "function", :function.to_proc,
                data: ->(call) { { function: call.function, release: call.release } },
                columns: [column(:calls, "calls", :count), column(:bytes, "bytes", :bytes), share])
      end

      def groups(summary)
        GROUPS.filter_map do |key, by|
          groups = summary[key]
          next if groups.empty?

          Groups.listing(groups, by: by, metric: @metric, top: @top, key: key, title: "by #{by}", whole: @whole)
        end
      end

      def histogram(key, title, buckets, unit)
        return if buckets.empty?

        most = buckets.map(&:blocks).max
        listing(key, title, buckets, unit.to_s,
                ->(bucket) { "#{range(bucket.range, unit).ljust(22)} #{"#" * (bucket.blocks * BAR / most)}".rstrip },
                data: ->(bucket) { { from: bucket.range.begin, to: bucket.range.end } },
                columns: [column(:blocks, "blocks", :count), column(:bytes, "bytes", :bytes)])
      end

      def range(range, unit)
        ends = [range.begin, range.end].uniq
        return "#{ends.join(" to ")} GC#{"s" unless ends == [1]}" if unit == :age

        ends.map { |size| Units.bytes(size) }.join(" to ")
      end

      def column(figure, title, unit)
        Figures::Columns::Column.new(key: figure, title: title, figure: figure, unit: unit)
      end

      def listing(key, title, rows, name, words, columns:, data:)
        Table::Listing.new(key: key, title: title, rows: rows, total: rows.size, columns: columns, sorted: nil,
                           name: name, label: ->(row) { Table::Label.new(text: words.call(row)) }, data: data)
      end

      def following
        return if @more.empty?

        width = @more.map { |command, _| command.length }.max
        lines = @more.map { |command, why| "#{command.ljust(width)}   #{why}" }
        Table::Statement.new(key: :next, title: nil, separator: "\n    ", parts: ["next", *lines],
                             data: @more.map(&:first))
      end
    end
  end
end
