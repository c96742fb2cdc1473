# frozen_string_literal: true

require_relative "../terminal/inert"
require_relative "weights"

module Heapline
  class Recording
    # Collapsed ("folded") stacks of a capture, as flame graph tools read them: a line a stack, `frame;frame;frame
    # weight`, bytes or, by count, allocations.
    class Collapsed
      # metric: as for Heapline::Capture#tree
      def initialize(metric: :peak)
        @metric = metric
      end

      # Write the stacks of a Heapline::Capture to `io`, the largest first.
      def render(capture, io)
        names = Hash.new do |all, frame|
          all[frame] = Inert.text(Weights.name(frame)).tr(";", ":")
        end.compare_by_identity
        folded = Weights.of(capture.stacks, @metric).each_with_object(Hash.new(0)) do |(frames, weight), lines|
          lines[frames.map { |frame| names[frame] }.join(";")] += weight
        end
        folded.each { |line, weight| io.write("#{line} #{weight}\n") }
      end
    end
  end
end
