# frozen_string_literal: true

require "test_helper"
require "heapline/capture"
require "support/captures"
require "heapline/page/data"
require "heapline/recording/page_view"
require "tempfile"

module Heapline
  class Recording
    class PageViewTest < Minitest::Test
      # [what the page has, its strings, Recording::Summary]
      def view(builder, **choice)
        Captures.file(builder.to_s) do |path|
          capture = Heapline::Capture.open(path, **choice)
          strings = Page::Strings.new
          return [PageView.new(capture, strings, source: true, cells: 1000).to_h, strings.all, capture.summary]
        end
      end

      def test_figures_and_the_plot
        found, _, summary = view(Captures.random(4, 900))
        assert_equal ["at peak", Units.bytes(summary.sums.peak_bytes),
                      "after #{Units.duration(summary.peak_at)}"],
                     found[:tiles].first
        plot = found[:plot]
        assert_equal summary.peak_at, plot[:peak_at]
        assert_equal summary.sums.peak_bytes, plot[:most_bytes].max
        assert_operator plot[:time].size, :<=, PageView::POINTS
        assert_equal 1, plot.except(:peak_at, :step).values.map(&:size).uniq.size
      end

      def test_for_how_long_the_program_stood_still
        refute_includes view(Captures.random(4, 50)).first[:tiles].map(&:first), "stood still for GC"
        builder = Captures::Builder.new
        builder.header["version"] = 2
        { 0 => :gc_enter, 1 => :gc_start, 25 => :gc_exit, 100 => :gc_end }
          .each { |ms, kind| builder.mark(ms * 1_000_000, kind) }
        assert_equal ["stood still for GC", "0.025 s", "1 GC, 25.0 % of the time"], view(builder).first[:tiles].last
      end

      def test_the_parts_refer_to_each_other
        found, strings, = view(Captures.random(4, 900))
        rows, nodes = found.values_at(:rows, :nodes)
        assert_operator rows[:node].max, :<, nodes[:parent].size
        assert_operator nodes[:frame].max, :<, found[:frames][:name].size
        assert_operator found[:frames][:name].max, :<, strings.size
        assert_equal [nil, "main", "worker"], found[:threads]
        assert_equal [nil, "a", "b"], found[:tags]
        refute_empty found[:cells].unpack1("m0")
        assert_empty found[:notes]
      end

      def test_an_object_ends_with_its_class
        builder = Captures::Builder.new
        builder.object(0, 40, "Foo\e", [["m", "a.rb", 1]])
        builder.object(1, 40, "Foo\e", [])
        found, strings, = view(builder, objects: true)
        frames, nodes = found.values_at(:frames, :nodes)
        leaves = found[:rows][:node].map { |node| nodes[:frame][node] }
        assert_equal ["Foo\\x1B"], leaves.map { |frame| strings[frames[:name][frame]] }.uniq
        assert_equal [3], leaves.map { |frame| frames[:kind][frame] }.uniq
        assert_equal "2 objects", found[:tiles][1].last
      end
    end

    class PageFramesTest < Minitest::Test
      def columns(*frames, source: true)
        @strings = Page::Strings.new
        PageFrames.new(@strings, source: source).of([nil, *frames])
      end

      def text(columns, name)
        columns[name].map { |number| @strings.all[number] }
      end

      def test_names_places_and_gems
        found = columns(Frame.new(label: "Rack#call", path: "/g/gems/rack-3.0/lib/rack.rb", lineno: 3),
                        Frame.new(label: "x\e", path: "/srv/app.rb", lineno: 4),
                        Frame.new(library: "/usr/lib/libxml2.so.2", offset: 16), PageStacks::SMALLER)
        assert_equal ["", "Rack#call", "x\\x1B", "libxml2.so.2+0x10", "(smaller stacks)"], text(found, :name)
        assert_equal ["", "/g/gems/rack-3.0/lib/rack.rb", "/srv/app.rb", "/usr/lib/libxml2.so.2", ""],
                     text(found, :path)
        assert_equal ["", "", "", "/usr/lib/libxml2.so.2", ""], text(found, :library)
        assert_equal ["", "rack", "", "system libraries", ""], text(found, :gem)
        assert_equal [[0, 3, 4, 0, 0], [2, 0, 0, 1, 2]], found.values_at(:line, :kind)
      end

      def test_lines_of_source
        Tempfile.create(["app", ".rb"]) do |file|
          file.write("one\n  two(\"\e\")\nthree\n")
          file.flush
          places = [[file.path, 2], ["/none.rb", 1], [file.path, 9], ["/etc/passwd", 1]]
          frames = [*places.map { |path, line| Frame.new(label: "a", path: path, lineno: line) },
                    Frame.new(library: file.path, offset: 1), Frame.new(label: "e")]
          assert_equal({ 1 => "two(\"\\x1B\")" }, columns(*frames)[:source])
          assert_empty columns(*frames, source: false)[:source]
        end
      end
    end
  end
end
