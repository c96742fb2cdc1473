# frozen_string_literal: true

module Heapline
  module Format
    module Capture
      # A colour for each gem and library of a flame graph: the application and native code of no gem have one of their
      # own, those that are seen most the others, the rest shares one.
      class FlameColours
        APPLICATION = "application"
        NATIVE = "native code"
        REST = "other gems"
        FIXED = { APPLICATION => 3, NATIVE => 5 }.freeze
        FREE = [1, 2, 4, 0, 6, 7].freeze
        GREY = 8
        # What stands for the root and for frames that are not known.
        NONE = 9

        # places: Array of FlameLayout::Place
        def initialize(places)
          @names = {}.compare_by_identity
          areas = Hash.new(0)
          places.each { |place| areas[name(place.node.frame)] += place.width }
          areas.delete(nil)
          seen = areas.keys.sort_by { |name| [-areas[name], name] }
          @colours = FIXED.slice(*seen).merge((seen - FIXED.keys).first(FREE.size).zip(FREE).to_h)
          @rest = seen.any? { |name| !@colours.key?(name) }
        end

        # Number of the colour of a Model::Capture::Frame or nil.
        def of(frame)
          found = name(frame)
          found ? @colours.fetch(found, GREY) : NONE
        end

        # { name => number } of those that are used, the most seen first.
        def legend
          @rest ? @colours.merge(REST => GREY) : @colours
        end

        private

        def name(frame)
          return if frame.nil?

          @names[frame] ||= frame.gem || (frame.native? ? NATIVE : APPLICATION)
        end
      end
    end
  end
end
