# frozen_string_literal: true

require_relative "../places/location"
require_relative "../errors"
require_relative "../terminal/inert"

module Heapline
  class Recording
    # A capture as the text that ms_print and massif-visualizer read: what was live over time, and at the highest
    # moment by whom it was allocated, with the callers below.
    class Massif
      POINTS = 100
      # A path is shown where at least this part of the peak came through it, as massif's own threshold has it.
      LEAST = 0.01
      ROOT = "(heap allocation functions) malloc/new/new[], --alloc-fns, etc."
      RULE = "#-----------\n"

      # metric: only the peak is told by this format.
      def initialize(metric: :peak)
        raise UsageError, "massif shows only the peak: no --metric #{metric}" unless metric == :peak
      end

      # Write the text of a Heapline::Capture to `io`.
      def render(capture, io)
        summary = capture.summary(groups: false)
        io.write("desc: heapline\ncmd: #{line(summary.command.join(" "))}\ntime_unit: ms\n")
        moments(capture, summary).each_with_index do |(time, bytes, is_peak), number|
          io.write("#{RULE}snapshot=#{number}\n#{RULE}time=#{(time * 1000).round}\nmem_heap_B=#{bytes}\n" \
                   "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=#{is_peak ? "peak" : "empty"}\n")
          tree(capture, io) if is_peak
        end
      end

      private

      # [seconds, bytes, is it the peak?] by time.
      def moments(capture, summary)
        peak = [summary.peak_at, summary.sums.peak_bytes, true]
        spans = capture.timeline(points: POINTS).map do |moment|
          [moment.time + moment.seconds, moment.live_bytes, false]
        end
        before, after = spans.partition { |time, _| time < summary.peak_at }
        [[0, 0, false], *before, peak, *after]
      end

      # From who allocated up to the callers, without recursion: stacks may be deep.
      def tree(capture, io)
        root = capture.tree(metric: :peak, direction: :bottom_up)
        least = root.bytes * LEAST
        waiting = [[root, 0]]
        until waiting.empty?
          node, depth = waiting.pop
          next io.write(node) if node.is_a?(String)

          large, small = node.children.partition { |child| child.bytes >= least && child.bytes.positive? }
          small = small.select { |child| child.bytes.positive? }
          io.write("#{" " * depth}n#{large.size + (small.empty? ? 0 : 1)}: #{node.bytes} #{name(node)}\n")
          waiting << [below(small, depth + 1), 0] unless small.empty?
          large.reverse_each { |child| waiting << [child, depth + 1] }
        end
      end

      def below(nodes, depth)
        "#{" " * depth}n0: #{nodes.sum(&:bytes)} in #{nodes.size} place#{"s" if nodes.size > 1}, " \
          "#{nodes.size > 1 ? "all " : ""}below massif's threshold (#{format("%.2f", LEAST * 100)}%)\n"
      end

      def name(node)
        return ROOT if node.depth.zero?

        frame = node.frame
        place = Places::BaseName.of(frame&.place)
        format("0x%<offset>x: %<name>s (%<place>s)", offset: frame&.offset || 0, place: line(place),
                                                     name: line(frame&.name || "(unknown)"))
      end

      def line(text)
        Inert.text(text || "unknown")
      end
    end
  end
end
