# frozen_string_literal: true

require_relative "../columns"
require_relative "../heap/sheet"
require_relative "seconds"

module Heapline
  module Format
    module Capture
      # The answer of `heapline report CAPTURE --timeline`: what was live, RSS, Ruby's heap, what was allocated and GCs
      # over time, with a bar for what was live; for people above it curves. Then the GCs.
      module Timeline
        BAR = 30 # characters

        # Heap::Sheet of an Array of Model::Capture::Moment. summary: Model::Capture::Summary; name: of the file;
        # problems: Array of String; curves: Curves, or nil; gcs: a Heap::Listing, see Gcs, or nil
        def self.sheet(moments, summary, name, problems, curves: nil, gcs: nil)
          Heap::Sheet.new(kind: "report --timeline", dumps: [Heap::Dump.new(name: name, summary: summary)],
                          parts: [curves, listing(moments), gcs].compact, problems: problems)
        end

        def self.listing(moments)
          most = [moments.map(&:most_bytes).max.to_i, 1].max
          Heap::Listing.new(key: :moments, rows: moments, total: moments.size, columns: columns(moments), sorted: nil,
                            name: "live", data: ->(moment) { { time: moment.time, seconds: moment.seconds } },
                            label: ->(moment) { Heap::Label.new(text: "#" * (moment.most_bytes * BAR / most)) })
        end

        # RSS, Ruby's heap and the time in GC are told where they are known.
        def self.columns(moments)
          sampled = { rss: "RSS", heap_bytes: "Ruby heap" }.select { |figure, _| moments.any?(&figure) }
          [Seconds.new(key: :at, title: "from", figure: :time), column(:most_bytes, "most live"),
           column(:live_bytes, "live"), *sampled.map { |figure, title| column(figure, title) },
           column(:bytes, "allocated"), column(:freed_bytes, "freed"), column(:allocations, "allocs", :count),
           column(:frees, "frees", :count), column(:collections, "GCs", :count),
           *([Seconds.new(key: :gc_seconds, title: "in GC", figure: :gc_seconds)] if moments.any?(&:gc_seconds))]
        end

        def self.column(figure, title, unit = :bytes)
          Columns::Column.new(key: figure, title: title, figure: figure, unit: unit)
        end
        private_class_method :listing, :columns, :column
      end
    end
  end
end
