# frozen_string_literal: true

require_relative "../terminal/display_width"
require_relative "../page/document"
require_relative "../figures/units"
require_relative "flame_layout"
require_relative "weights"

module Heapline
  class Recording
    # The call paths of a capture as a flame graph: a picture of which each frame is as wide as its share. Callers are
    # below: from the outermost frame up, or, from below, from who allocated down to the callers. Browsers show a
    # frame's figures under the pointer; there is no script.
    class Svg
      WIDTH = 1200
      MARGIN = 10
      ROW = 18
      HEAD = 46 # above the frames
      # Of a character, and the least that is drawn; as the others in pixels.
      LETTER = 6.7
      LEAST = 0.5
      WORDS = 24 # least width of a frame that says its name
      # Light or dark as the system is; the words have 8 to 1 against each colour at least.
      STYLE = <<~CSS
        .flame { background: #ffffff; font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace; }
        .flame text { fill: #1d1b19; } .flame .title { font-size: 14px; font-weight: 600; } .flame .soft { fill: #5f5a54; }
        .flame rect { stroke: #ffffff; stroke-width: 0.5; }
        .flame .h0 { fill: #f9d9df; } .flame .h1 { fill: #d6e6f9; } .flame .h2 { fill: #d5efe2; }
        .flame .h3 { fill: #fbe8c6; } .flame .h4 { fill: #e5dcf5; } .flame .h5 { fill: #d2eef0; }
        .flame .h6 { fill: #f6dfcf; } .flame .h7 { fill: #e3e8cf; } .flame .h8 { fill: #dedbd6; }
        .flame .h9 { fill: #f1efec; } .flame g:hover rect { stroke: #1d1b19; stroke-width: 1; }
        @media (prefers-color-scheme: dark) {
          .flame { background: #151413; } .flame text { fill: #eeebe7; } .flame .soft { fill: #aaa39b; }
          .flame rect { stroke: #151413; } .flame g:hover rect { stroke: #eeebe7; }
          .flame .h0 { fill: #5a2531; } .flame .h1 { fill: #1f3d61; } .flame .h2 { fill: #1f4a37; }
          .flame .h3 { fill: #54401a; } .flame .h4 { fill: #3d3059; } .flame .h5 { fill: #1b474b; }
          .flame .h6 { fill: #543625; } .flame .h7 { fill: #3e4424; } .flame .h8 { fill: #3b3835; }
          .flame .h9 { fill: #262422; }
        }
      CSS

      # metric, direction: as for Heapline::Capture#tree
      def initialize(metric: :peak, direction: :top_down)
        @metric = metric
        @direction = direction
        @weight = metric == :count ? :count : :bytes
      end

      # Write the picture of a Heapline::Capture to `io`.
      def render(capture, io)
        @root = capture.tree(metric: @metric, direction: @direction)
        @layout = FlameLayout.new(@root, @weight, whole: WIDTH - (2 * MARGIN), least: LEAST)
        @colours = FlameColours.new(@layout.places)
        io.write(picture(capture.summary(groups: false)))
      end

      private

      def picture(summary)
        height = HEAD + (@layout.depth * ROW) + (4 * ROW)
        Page::Svg.picture([*head(summary), *@layout.places.map { |place| frame(place) }, *foot(height)].join("\n"),
                          style: STYLE, label: [title(summary), *summary.chosen].join(", "), class: "flame",
                          width: WIDTH, height: height, viewBox: "0 0 #{WIDTH} #{height}")
      end

      def title(summary)
        "#{Weights::TITLES.fetch(@metric)}, #{amount(@root)}: #{summary.command.join(" ")}"
      end

      def head(summary)
        about = [*summary.chosen, "pid #{summary.pid}", Units.duration(summary.seconds),
                 summary.ruby.to_s[/\Aruby \S+/], summary.allocator,
                 @direction == :bottom_up ? "who allocated, callers below" : "callers below"]
        [Page::Svg.text(MARGIN, 20, "title", cut(title(summary), WIDTH * LETTER / 8.6)),
         Page::Svg.text(MARGIN, 37, "soft", cut(about.compact.join(" · "), WIDTH))]
      end

      def frame(place)
        node = place.node
        across = (MARGIN + place.left).round(2)
        down = HEAD + (row(node) * ROW)
        words = cut(name(node), place.width - 6)
        words = place.width < WORDS ? "" : Page::Svg.text(across + 3, down + 13, "name", words)
        %(<g><title>#{Page::Svg.escape(name(node))}\n#{escaped_facts(node)}</title>) +
          %(<rect class="h#{@colours.of(node.frame)}" x="#{across}" y="#{down}" width="#{place.width.round(2)}" ) +
          %(height="#{ROW - 1}" rx="1"/>#{words}</g>)
      end

      # From above.
      def row(node)
        @direction == :bottom_up ? node.depth : @layout.depth - 1 - node.depth
      end

      def name(node)
        return "all" if node.depth.zero?

        node.frame ? Weights.name(node.frame) : "(unknown)"
      end

      # In lines: place, figures.
      def escaped_facts(node)
        share = format("%.1f %%", 100.0 * node.public_send(@weight) / [@root.public_send(@weight), 1].max)
        own = node.public_send(:"own_#{@weight}")
        figures = [amount(node), share, *("itself #{print(own)}" if own.positive?)].join(", ")
        [node.frame&.place, figures].compact.map { |line| Page::Svg.escape(line) }.join("\n")
      end

      def amount(node)
        print(node.public_send(@weight))
      end

      def print(number)
        @weight == :count ? "#{Units.count(number)} allocations" : Units.bytes(number)
      end

      # What fits.
      def cut(text, width)
        Terminal::DisplayWidth.first(Inert.text(text), (width / LETTER).floor, sign: "…")
      end

      def foot(height)
        missing = @layout.left_out
        [*legend(height - (2 * ROW)),
         *(Page::Svg.text(MARGIN, height - 14, "soft", left_out(missing)) if missing.positive?)]
      end

      def left_out(missing)
        "not drawn: #{Units.count(missing)} call path#{"s" if missing > 1}, too narrow to be seen"
      end

      def legend(down)
        across = MARGIN
        @colours.legend.map do |name, number|
          shown = cut(name, 30 * LETTER)
          sign = %(<rect class="h#{number}" x="#{across.round(2)}" y="#{down - 10}" width="12" height="12"/>)
          words = Page::Svg.text((across + 18).round(2), down, "soft", shown)
          across += 36 + (Terminal::DisplayWidth.of(shown) * LETTER)
          sign + words
        end
      end
    end

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

      # Number of the colour of a Recording::Frame or nil.
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
