# frozen_string_literal: true

require "test_helper"
require "heapline/recording/curves"
require "heapline/terminal/output"
require "heapline/recording/model"

module Heapline
  class Recording
    class CurvesTest < Minitest::Test
      def moment(time, most, bytes: 0, collections: 0, **more)
        Moment.new(time: time, seconds: 0.5, allocations: 1, bytes_allocated: bytes, frees: 0, bytes_freed: 0,
                   live_bytes: most, most_bytes: most, collections: collections, **more)
      end

      def lines(*moments, width: 60, utf8: true)
        Curves.new(moments).lines(Terminal::Output.new(StringIO.new, { "LC_ALL" => utf8 ? "C.UTF-8" : "C" },
                                                       width: width))
      end

      def test_from_nothing_to_the_highest
        shown = lines(moment(0.0, 0, bytes: 350), moment(0.5, 100, rss: 8000, gc_seconds: 0.25, collections: 1),
                      moment(1.0, 50, rss: 4000, collections: 2, gc_seconds: 0.5))
        rows = shown.first(4).map { |line| line.strip.split(/ {2,}/) }
        assert_equal [["live", "▁█▅", "100 B"], ["RSS", "▁█▅", "8.00 kB"], ["allocated", "█▁▁", "700 B a second"],
                      ["GCs", "▁▅█", "3, 0.8 s in all"]], rows
      end

      def test_what_was_not_sampled_has_no_curve
        assert_equal %w[live allocated], lines(moment(0.0, 1)).map { |line| line.split.first }.first(2)
        assert_equal 3, lines(moment(0.0, 1)).size
      end

      # Each as wide as the others, and none wider than the terminal.
      def test_it_fits
        moments = Array.new(400) { |at| moment(at / 2.0, at * 1_000_000, collections: at % 3) }
        [[40, true], [80, false], [200, true]].each do |width, utf8|
          shown = lines(*moments, width: width, utf8: utf8)
          shown.each { |line| assert_operator line.length, :<=, width }
          assert_equal 1, shown.first(3).map { |line| line.rindex("  ") }.uniq.size
          assert_match(/\A +0\.0 s +3 min 20 s\z/, shown.last)
          assert(shown.all?(&:ascii_only?)) unless utf8
        end
      end
    end
  end
end
