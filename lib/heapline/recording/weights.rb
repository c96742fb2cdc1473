# frozen_string_literal: true

require_relative "../figures/columns"
require_relative "../places/location"
require_relative "model"

module Heapline
  class Recording
    # The stacks of a capture by one figure, for tools that draw stacks.
    module Weights
      # What a capture can be weighed by: key: what --metric takes, figure: of Recording::Sums.
      METRICS = [
        Figures::Columns::Column.new(key: :peak, title: "at peak", figure: :peak_bytes, unit: :bytes,
                                     rank: 1, help: "Bytes that were live at the moment when most were"),
        Figures::Columns::Column.new(key: :live, title: "at end", figure: :live_bytes, unit: :bytes,
                                     rank: 2, help: "Bytes that are live at the end of the time that is chosen"),
        Figures::Columns::Column.new(key: :allocated, title: "allocated", figure: :bytes_allocated, unit: :bytes,
                                     rank: 3, help: "Bytes of all that were born"),
        Figures::Columns::Column.new(key: :temporary, title: "temporary", figure: :temporary_bytes, unit: :bytes,
                                     rank: 4,
                                     help: "Bytes that were freed in the GC generation of their birth or the next"),
        Figures::Columns::Column.new(key: :count, title: "allocs", figure: :allocations, unit: :count,
                                     rank: 5, help: "Blocks that were born"),
        Figures::Columns::Column.new(key: :freed, title: "freed", figure: :bytes_freed, unit: :bytes)
      ].freeze
      # Those that a page has: no cell of it tells who freed.
      OF_PAGES = METRICS.reject { |metric| metric.key == :freed }.freeze
      FIGURES = METRICS.to_h { |metric| [metric.key, metric.figure] }.freeze
      # Where there is room for more than a title.
      TITLES = METRICS.to_h { |metric| [metric.key, metric.title] }
                      .merge(peak: "live at the peak", live: "live at the end", count: "allocations").freeze
      UNKNOWN = [Frame.new].freeze

      # { frames => weight } of the stacks where it is above 0, threads and tags added up; the largest first. A stack
      # that is not known is one frame without a name.
      def self.of(stacks, metric)
        figure = FIGURES.fetch(metric)
        sums = stacks.each_with_object(Hash.new(0)) do |stack, weights|
          weight = stack.sums.public_send(figure)
          weights[stack.frames.empty? ? UNKNOWN : stack.frames] += weight if weight.positive?
        end
        sums.sort_by.with_index { |(_, weight), index| [-weight, index] }.to_h
      end

      # "Cache#put app.rb:12", "xmlNewNode libxml2.so.2": what a frame is called in a picture.
      def self.name(frame)
        place = Places::BaseName.of(frame.place)
        [frame.name, *(place if frame.label && place != frame.name)].join(" ")
      end
    end
  end
end
