# frozen_string_literal: true

require_relative "../errors"
require_relative "../page/document"
require_relative "../figures/units"

module Heapline
  class Replay
    # A Replay::Comparison as a picture: RSS of each variant over the calls, above the bytes that were live.
    # @api private
    class Svg
      WIDTH = 900
      HEIGHT = 340
      LEFT = 84
      RIGHT = 12
      TOP = 12
      BOTTOM = 34
      LINE = 22 # of the legend
      TICKS = 5
      COLOURS = 8
      # Light or dark as the system is; every line has 3 to 1 against its ground at least.
      STYLE = <<~CSS
        .plot { background: #ffffff; font: 12px system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }
        .plot text { fill: #5f5a54; } .plot .end { text-anchor: end; } .plot .middle { text-anchor: middle; }
        .plot .grid { stroke: #dedbd6; } .plot .live { fill: #d6e6f9; } .plot path { fill: none; stroke-width: 2; }
        .plot path.live { fill: #d6e6f9; }
        .plot .c0 { stroke: #a8173a; } .plot .c1 { stroke: #1f5fae; } .plot .c2 { stroke: #1d8276; }
        .plot .c3 { stroke: #b06a00; } .plot .c4 { stroke: #7b5aa6; } .plot .c5 { stroke: #5f7a1f; }
        .plot .c6 { stroke: #6b655e; } .plot .c7 { stroke: #8a4f00; } .plot .dashed { stroke-dasharray: 6 3; }
        @media (prefers-color-scheme: dark) {
          .plot { background: #1f1d1c; } .plot text { fill: #aaa39b; } .plot .grid { stroke: #3b3835; }
          .plot .live, .plot path.live { fill: #1f3d61; }
          .plot .c0 { stroke: #ff6f8a; } .plot .c1 { stroke: #6aa5f5; } .plot .c2 { stroke: #3cc0af; }
          .plot .c3 { stroke: #e0a144; } .plot .c4 { stroke: #b294e0; } .plot .c5 { stroke: #a9bf5c; }
          .plot .c6 { stroke: #9a938a; } .plot .c7 { stroke: #e8b25c; }
        }
      CSS

      # Write the picture to `io`. Raises UsageError where RSS was not measured.
      def render(comparison, io)
        raise UsageError, "no picture of time alone: leave out --time-only" if comparison.time_only

        io.write(figure(comparison, style: STYLE))
      end

      # The element; for a page that has STYLE without it.
      def figure(comparison, style: "")
        @lines = comparison.variants.map { |variant| [variant.name, variant.typical.samples] }
        @calls = [@lines.first.last.map(&:first).max || 1, 1].max
        @bytes = [@lines.flat_map { |_, samples| samples.flat_map { |sample| sample.drop(1) } }.max || 1, 1].max
        height = HEIGHT + (LINE * (@lines.size + 1))
        Page::Svg.picture([grid, live, curves, legend].join, style: style, label: "RSS over the calls",
                                                             class: "plot", viewBox: "0 0 #{WIDTH} #{height}")
      end

      private

      def grid
        scale(@bytes).map { |bytes| line_at(bytes) }.join +
          scale(@calls).map { |calls| text(x(calls), HEIGHT - BOTTOM + 20, "middle", short(calls)) }.join
      end

      def line_at(bytes)
        %(<line class="grid" x1="#{LEFT}" x2="#{WIDTH - RIGHT}" y1="#{y(bytes)}" y2="#{y(bytes)}"/>) +
          text(LEFT - 8, y(bytes) + 4, "end", Units.bytes(bytes))
      end

      def text(...)
        Page::Svg.text(...)
      end

      # Round numbers from 0 to `most`.
      def scale(most)
        rough = most.fdiv(TICKS)
        step = 10**Math.log10([rough, 1].max).floor
        step *= [1, 2, 5, 10].find { |factor| step * factor >= rough } || 10
        (0..most).step(step).to_a
      end

      def short(calls)
        [[1_000_000, "M"], [1000, "k"]].each do |size, unit|
          return "#{calls.fdiv(size).round(1).to_s.delete_suffix(".0")} #{unit}" if calls >= size
        end
        "#{calls} calls"
      end

      def x(calls)
        (LEFT + ((WIDTH - LEFT - RIGHT) * calls.fdiv(@calls))).round(1)
      end

      def y(bytes)
        (HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * bytes.fdiv(@bytes))).round(1)
      end

      def live
        samples = @lines.first.last
        return "" if samples.empty?

        points = samples.map { |calls, bytes, _| "#{x(calls)},#{y(bytes)}" }
        last = x(samples.last.first)
        %(<path class="live" d="M#{LEFT},#{y(0)} L#{points.join(" ")} L#{last},#{y(0)} Z"/>)
      end

      def curves
        @lines.each_with_index.map do |(_, samples), i|
          next if samples.empty?

          points = samples.map { |calls, _, bytes| "#{x(calls)},#{y(bytes)}" }
          %(<path class="#{colour(i)}" d="M#{points.join(" L")}"/>)
        end.join
      end

      # After the first COLOURS the lines are dashed.
      def colour(number)
        "c#{number % COLOURS}#{" dashed" if (number / COLOURS).odd?}"
      end

      def legend
        live = %(<rect class="live" x="#{LEFT}" y="#{HEIGHT + 1}" width="24" height="10"/>) +
               text(LEFT + 32, HEIGHT + 10, "name", "live (requested)")
        @lines.each_with_index.inject(live) do |drawn, ((name, _), i)|
          down = HEIGHT + (LINE * (i + 1)) + 6
          drawn + %(<path class="#{colour(i)}" d="M#{LEFT},#{down} h24"/>) +
            text(LEFT + 32, down + 4, "name", name)
        end
      end
    end
  end
end
