# frozen_string_literal: true

require_relative "../../model/capture/frame"

module Heapline
  module Format
    module Capture
      # The stacks of a capture by one figure, for tools that draw stacks.
      module Weights
        # metric of Heapline::Capture => figure of Model::Capture::Sums
        FIGURES = { peak: :peak_bytes, live: :live_bytes, allocated: :bytes, temporary: :temporary_bytes,
                    count: :allocations, freed: :freed_bytes }.freeze
        TITLES = { peak: "live at the peak", live: "live at the end", allocated: "allocated", temporary: "temporary",
                   count: "allocations", freed: "freed" }.freeze
        UNKNOWN = [Model::Capture::Frame.new].freeze

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
          place = frame.place && File.basename(frame.place)
          [frame.name, *(place if frame.label && place != frame.name)].join(" ")
        end
      end
    end
  end
end
