# frozen_string_literal: true

require_relative "inert"
require_relative "selection"
require_relative "stack"

module Heapline
  module Format
    # Collapsed ("folded") stacks, as flame graph tools read them: a line a stack, `gem;file;line and method;library
    # bytes`. Only what is above zero has a width; equal stacks are one line.
    class Collapsed
      CONTENT_TYPE = "text/plain; charset=utf-8"

      # figure: the figure of Site that is the width. objects: Ruby objects, with their class as the last frame, instead
      # of malloc. top, sort, min: see Selection; the defaults write all.
      def initialize(figure: :live_bytes, objects: false, top: 0, sort: figure, min: 0)
        @figure = figure
        @objects = objects
        @selection = Selection.new(top: top, sort: sort, min: min)
      end

      # Write the stacks to `io`, those with the most bytes first.
      def render(snapshot, io)
        sites = (@objects ? snapshot.objects : snapshot).sites
        Stack.widths(@selection.of(sites), @figure).each do |frames, width|
          io.write("#{frames.map { |frame| folded(frame) }.join(";")} #{width}\n")
        end
      end

      private

      # What stands between frames must not stand in one.
      def folded(frame)
        Inert.text(frame.name).tr(";", ":")
      end
    end
  end
end
