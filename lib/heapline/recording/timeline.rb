# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "sheet"
require_relative "../figures/units"

module Heapline
  class Recording
    # The answer of `heapline report CAPTURE --timeline`: what was live, RSS, Ruby's heap, what was allocated and GCs
    # over time, with a bar for what was live; for people above it curves. Then the GCs.
    module Timeline
      BAR = 30 # characters

      # Table::Sheet of an Array of Recording::Moment. summary: Recording::Summary; name: of the file;
      # problems: Array of String; curves: Curves, or nil; gcs: a Table::Listing, see Gcs, or nil
      def self.sheet(moments, summary, name, problems, curves: nil, gcs: nil)
        Sheet.of("report --timeline", [[name, summary]], [curves, listing(moments), gcs].compact, problems)
      end

      def self.listing(moments)
        most = [moments.map(&:most_bytes).max.to_i, 1].max
        Table::Listing.new(key: :moments, rows: moments, total: moments.size, columns: columns(moments), sorted: nil,
                           name: "live", data: ->(moment) { { time: moment.time, seconds: moment.seconds } },
                           label: ->(moment) { Table::Label.new(text: "#" * (moment.most_bytes * BAR / most)) })
      end

      # RSS, Ruby's heap and the time in GC are told where they are known.
      def self.columns(moments)
        sampled = { rss: "RSS", heap_bytes: "Ruby heap" }.select { |figure, _| moments.any?(&figure) }
        [column(:time, "from", :seconds, key: :at), column(:most_bytes, "most live"),
         column(:live_bytes, "live"), *sampled.map { |figure, title| column(figure, title) },
         column(:bytes_allocated, "allocated"), column(:bytes_freed, "freed"), column(:allocations, "allocs", :count),
         column(:frees, "frees", :count), column(:collections, "GCs", :count),
         *([column(:gc_seconds, "in GC", :seconds)] if moments.any?(&:gc_seconds))]
      end

      def self.column(figure, title, unit = :bytes, key: figure)
        Figures::Columns::Column.new(key: key, title: title, figure: figure, unit: unit)
      end
      private_class_method :listing, :columns, :column
    end

    # The GCs of a recording as a table, each by its generation and the line that ran into it: all of them in their
    # order, or those for which the program stood still the longest.
    module Gcs
      # That people are shown.
      TOP = 5

      # A Table::Listing of an Array of Recording::Collection. top: how many (0: all); of these it is nil where no
      # time is known.
      def self.listing(collections, top: 0)
        return if top.positive? && collections.none?(&:gc_seconds)

        rows = top.zero? ? collections : longest(collections, top)
        Table::Listing.new(key: :gcs, title: "GCs for which the program stood still the longest", rows: rows,
                           total: top.zero? ? rows.size : nil, columns: columns, sorted: nil, name: "generation, line",
                           data: method(:data), label: method(:label))
      end

      def self.label(collection)
        Table::Label.new(text: Units.count(collection.generation), place: collection.frame&.place)
      end

      def self.data(collection)
        { generation: collection.generation, location: collection.frame&.place, label: collection.frame&.label }
      end

      def self.longest(collections, top)
        collections.max_by(top) { |gc| gc.gc_seconds.to_f }
      end

      def self.columns
        { time: "from", seconds: "ended after", gc_seconds: "stood still" }.map do |figure, title|
          Figures::Columns::Column.new(key: figure, title: title, figure: figure, unit: :seconds)
        end
      end
      private_class_method :longest, :columns, :label, :data
    end
  end
end
