# frozen_string_literal: true

require_relative "../heap/sheet"
require_relative "../units"
require_relative "seconds"

module Heapline
  module Format
    module Capture
      # The GCs of a recording as a table, each by its generation and the line that ran into it: all of them in their
      # order, or those for which the program stood still the longest.
      module Gcs
        # That people are shown.
        TOP = 5

        # A Heap::Listing of an Array of Model::Capture::Collection. top: how many (0: all); of these it is nil where no
        # time is known.
        def self.listing(collections, top: 0)
          return if top.positive? && collections.none?(&:gc_seconds)

          rows = top.zero? ? collections : longest(collections, top)
          Heap::Listing.new(key: :gcs, title: "GCs for which the program stood still the longest", rows: rows,
                            total: top.zero? ? rows.size : nil, columns: columns, sorted: nil, name: "generation, line",
                            data: method(:data), label: method(:label))
        end

        def self.label(collection)
          Heap::Label.new(text: Units.count(collection.generation), place: collection.frame&.place)
        end

        def self.data(collection)
          { generation: collection.generation, line: collection.frame&.place, label: collection.frame&.label }
        end

        def self.longest(collections, top)
          collections.max_by(top) { |gc| gc.gc_seconds.to_f }
        end

        def self.columns
          { time: "from", seconds: "ended after", gc_seconds: "stood still" }.map do |figure, title|
            Seconds.new(key: figure, title: title, figure: figure)
          end
        end
        private_class_method :longest, :columns, :label, :data
      end
    end
  end
end
