# frozen_string_literal: true

require_relative "../../model/location"
require_relative "../html/excerpts"
require_relative "page_stacks"

module Heapline
  module Format
    module Capture
      # Frames as columns over a table of strings; 0 is none.
      class PageFrames
        # Frames whose line of source is read: those of the largest stacks.
        SOURCES = 2000
        Spot = Struct.new(:location)

        # strings: Format::Html::Strings. source: is it read?
        def initialize(strings, source:)
          @strings = strings
          @source = source
        end

        # frames: Array of Model::Capture::Frame, nil first, those of the largest stacks before the others.
        def of(frames)
          @gems = {}
          { name: column(frames, &:name), path: column(frames) { |each| each.path || each.library },
            library: column(frames, &:library),
            line: frames.map { |frame| frame&.lineno || 0 }, kind: frames.map { |frame| kind(frame) },
            gem: column(frames) { |frame| gem(frame) }, source: sources(frames) }
        end

        private

        def column(frames, &text)
          frames.map { |frame| frame ? @strings.number(text.call(frame)) : 0 }
        end

        # 0: Ruby, 1: native code, 2: what stands for other frames, 3: the class of an object
        def kind(frame)
          return 3 if frame.is_a?(PageStacks::ClassFrame)
          return 2 if frame.nil? || PageStacks::SPECIAL.include?(frame)

          frame.native? ? 1 : 0
        end

        # nil: the application's own.
        def gem(frame)
          path = frame.library || frame.path
          @gems.fetch(path) { @gems[path] = frame.gem }
        end

        # Number of a frame => its line.
        def sources(frames)
          return {} unless @source

          spots = frames.first(SOURCES).map do |frame|
            Spot.new(Model::Location.new(frame&.native? ? nil : frame&.path, frame&.lineno, nil))
          end
          Format::Html::Excerpts.new(nil).of(spots).filter_map do |number, (first, lines)|
            [number, lines[frames[number].lineno - first].strip]
          end.to_h
        end
      end
    end
  end
end
