# frozen_string_literal: true

require "test_helper"
require "support/captures"
require "support/rendered_capture"
require "heapline/recording/svg"
require "heapline/recording/flame_layout"
require "heapline/recording/model"

module Heapline
  class Recording
    class SvgTest < Minitest::Test
      include RenderedCapture

      MAIN = ["main", "/srv/app.rb", 1, nil, nil].freeze
      LOAD = ["Shop#load", "/srv/shop.rb", 12, nil, nil].freeze
      NATIVE = ["xmlNewNode", nil, nil, "/usr/lib/libxml2.so.2", 16].freeze

      # Each frame of a picture: [title, x, y, width].
      PROGRAM = <<~PYTHON
        import sys, json, xml.etree.ElementTree as e
        ns = {"s": "http://www.w3.org/2000/svg"}
        root = e.fromstring(sys.stdin.read())
        print(json.dumps([[g.find("s:title", ns).text] + [float(g.find("s:rect", ns).get(k)) for k in ("x", "y", "width")]
                          for g in root.findall("s:g", ns)]))
      PYTHON

      def frames(picture)
        JSON.parse(python(PROGRAM, picture))
      end

      def planted(**options)
        builder = Captures::Builder.new
        builder.birth(0, 600, [MAIN, LOAD])
        builder.birth(0, 300, [MAIN, NATIVE])
        builder.birth(0, 100, [MAIN])
        of(builder, Svg, **options)
      end

      def test_frames_are_as_wide_as_their_share_and_callers_below
        all, main, load, native = frames(planted)
        assert_equal [1180, 1180, 708, 354], [all, main, load, native].map(&:last)
        assert_equal [10, 10, 10, 718], ([all, main, load, native].map { |frame| frame[1] })
        assert_equal [2, 1, 0, 0], ([all, main, load, native].map { |frame| (frame[2] - Svg::HEAD) / Svg::ROW })
        assert_equal "Shop#load shop.rb:12\n/srv/shop.rb:12\n600 B, 60.0 %, itself 600 B", load.first
        assert_equal "main app.rb:1\n/srv/app.rb:1\n1.00 kB, 100.0 %, itself 100 B", main.first
      end

      def test_from_who_allocated
        drawn = frames(planted(direction: :bottom_up, metric: :count))
        assert_equal([0, 1, 2], drawn.map { |frame| ((frame[2] - Svg::HEAD) / Svg::ROW).to_i }.uniq.sort)
        assert_equal "all\n3 allocations, 100.0 %", drawn.first.first
        assert_equal 3, (drawn.count { |frame| frame.first.start_with?("main") })
      end

      def test_it_says_what_was_chosen
        builder = Captures::Builder.new
        builder.birth(0, 600, [MAIN], thread: "main")
        picture = Captures.file(builder.to_s) do |path|
          rendered(Svg, Heapline::Capture.open(path, from: 0, to: 2.5, thread: "main"), metric: :temporary)
        end
        assert_includes picture, ">temporary, 0 B: ruby</text>"
        assert_includes picture, ">born from 0 s · until 2.5 s · thread main · pid 4711".b
        assert_includes picture, 'aria-label="temporary, 0 B: ruby, born from 0 s, until 2.5 s, thread main"'
      end

      # What stands beside each other above a frame is no wider than that, and no two overlap.
      def test_a_random_capture_adds_up
        picture, oracle = random(Svg, metric: :allocated)
        drawn = frames(picture)
        assert_includes picture, "allocated, #{Units.bytes(oracle.sums[1])}: ruby</text>"
        drawn.group_by { |frame| frame[2] }.each_value do |row|
          row.sort_by { |frame| frame[1] }.each_cons(2) { |a, b| assert_operator a[1] + a[3], :<=, b[1] + 0.03 }
          assert_operator row.sum(&:last), :<=, 1180.1
        end
      end

      def test_hostile_names_are_inert
        assert_equal "a;\\x1B b\\x0Ac.rb:1\n/x/b\\x0Ac.rb:1\n8 B, 100.0 %, itself 8 B",
                     frames(hostile(Svg)).last.first
        builder = Captures::Builder.new
        builder.header["command"] = "<script>alert(1)</script>"
        builder.birth(0, 8, [["</title><script>", "/x/\"'.rb", 1, nil, nil]])
        refute_includes of(builder, Svg), "<script"
      end

      def test_of_nothing
        assert_equal ["all\n0 B, 0.0 %"], frames(empty(Svg)).map(&:first)
      end

      def test_deep_recursion
        builder = Captures::Builder.new
        builder.birth(0, 8, Array.new(2000) { |depth| ["down", "/srv/app.rb", depth + 1, nil, nil] })
        assert_equal 2001, frames(of(builder, Svg)).size
      end
    end

    class FlameColoursTest < Minitest::Test
      Node = Struct.new(:frame)

      def place(frame, width = 1)
        FlameLayout::Place.new(Node.new(frame), 0, width)
      end

      def gem(name)
        Frame.new(label: "call", path: "/g/gems/#{name}-1.0/lib/a.rb")
      end

      def test_gems_that_are_seen_most_have_a_colour_each
        gems = (1..8).map { |number| gem("gem#{number}") }
        own = Frame.new(path: "/srv/app.rb")
        native = Frame.new(library: "/srv/ext.so", offset: 1)
        colours = FlameColours.new([place(nil, 100), place(own), place(native),
                                    *gems.each_with_index.map { |frame, index| place(frame, 50 - index) }])
        assert_equal([3, 5, 9], [own, native, nil].map { |frame| colours.of(frame) })
        assert_equal [1, 2, 4, 0, 6, 7, 8, 8], (gems.map { |frame| colours.of(frame) })
        assert_equal ["application", "native code", *(1..6).map { |number| "gem#{number}" }, "other gems"].sort,
                     colours.legend.keys.sort
      end

      def test_only_what_is_there_is_in_the_legend
        assert_equal({ "rack" => 1 }, FlameColours.new([place(nil), place(gem("rack"))]).legend)
      end
    end
  end
end
