# frozen_string_literal: true

require "json"
require_relative "../version"
require_relative "../terminal/inert"
require_relative "../accounting/speedscope"
require_relative "weights"

module Heapline
  class Recording
    # A capture for https://www.speedscope.app: a profile for each metric, the one that was asked for first shown. The
    # layout is that of https://www.speedscope.app/file-format-schema.json. Output is ASCII.
    class Speedscope
      # metric: as for Heapline::Capture#tree
      def initialize(metric: :peak)
        @metric = metric
      end

      # Write one JSON object and a line end to `io`.
      def render(capture, io)
        io.write("#{JSON.generate(to_h(capture), ascii_only: true)}\n")
      end

      # The object as a Hash.
      def to_h(capture)
        @frames = {}
        stacks = capture.stacks
        metrics = Weights::FIGURES.keys
        profiles = metrics.map { |metric| profile(metric, Weights.of(stacks, metric)) }
        summary = capture.summary(groups: false)
        { "$schema": Accounting::Speedscope::SCHEMA, exporter: "heapline #{VERSION}",
          name: "#{Inert.text(summary.command.join(" "))} (pid #{summary.pid})",
          activeProfileIndex: metrics.index(@metric),
          shared: { frames: @frames.keys.map { |frame| frame_to_h(frame) } }, profiles: profiles }
      end

      private

      def profile(metric, weights)
        { type: "sampled", name: Weights::TITLES.fetch(metric), unit: metric == :count ? "none" : "bytes",
          startValue: 0, endValue: weights.values.sum,
          samples: weights.keys.map { |frames| frames.map { |frame| @frames[frame] ||= @frames.size } },
          weights: weights.values }
      end

      def frame_to_h(frame)
        file = frame.path || frame.library
        { name: Inert.text(frame.name), file: file && Inert.text(file), line: frame.lineno }.compact
      end
    end
  end
end
