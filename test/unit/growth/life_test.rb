# frozen_string_literal: true

require "test_helper"
require "heapline/growth/life"

module Heapline
  module Growth
    class LifeTest < Minitest::Test
      # 20 windows of 1 s; live rises by 10 a window, 100 bytes are allocated in each.
      def life(count = 20, **more)
        windows = (0...count).map { |i| [(i * 1000.0), i * 10.0, (i * 1000.0) + 500, (i * 10.0) + 5, i * 100.0, i] }
        Life.new(windows: windows, **more)
      end

      def test_figures
        assert_equal [195, 195, 19, 0.0, 19_500.0], [life.live_bytes, life.growth_bytes, life.generations,
                                                     life.first_ms, life.last_ms]
        assert_in_delta 1900, life.allocated
        assert_in_delta 19, life.turnover, 1
        assert_in_delta 0.1, life.kept, 0.01
      end

      def test_stretches_keep_the_lowest_and_the_rate
        stretch = life.stretches[3]
        assert_equal [10, 6000.0, 60.0], [life.stretches.size, stretch.ms, stretch.low]
        assert_in_delta 0.1, stretch.rate
        assert_in_delta 600, stretch.residence
      end

      # With GCs as the unit of time, and the mean for what is live.
      def test_stretches_keep_what_a_gc_frees
        stretch = life.stretches[3]
        assert_equal [100.0, 70.0, 0.7], [stretch.gc_rate, stretch.mean, stretch.gc_residence]
      end

      # Where a stretch has fewer than two GCs, those before it count; at the beginning those after it.
      def test_stretches_with_few_gcs
        windows = (0...20).map { |i| [i * 1000.0, 1.0, i * 1000.0, 1.0, i * 100.0, 1 + (i / 4)] }
        Life.new(windows: windows).stretches.each { |one| assert_in_delta 400, one.gc_rate, 100 }
        none = windows.map { |window| [*window.first(5), 1] }
        assert_equal 1900.0, Life.new(windows: none).stretches.last.gc_rate
      end

      def test_points_are_bounded
        assert_equal [20, 30], [life.points.size, life(128).points.size]
        assert_equal [3, 3], [life(3).points.size, life(3).envelope.size]
      end

      def test_live_at_a_moment
        assert_equal([0, 0, 5, 5, 15, 195, 0], [-1, 0, 500, 1499, 1500, 19_500, 19_501].map { |ms| life.live_at(ms) })
      end

      def test_one_window
        assert_equal [1, 0.0], [life(1).stretches.size, life(1).stretches[0].rate]
        assert_equal [5, 1.0], [life(1).growth_bytes, life(1).kept]
      end

      def test_unknown_generations
        assert_nil Life.new(windows: [[0.0, 1.0, 0.0, 1.0, 0.0, 0]]).generations
      end
    end

    class LivesTogetherTest < Minitest::Test
      def life(from, to, live)
        Life.new(windows: (from..to).map { |i| [i * 1000.0, live, i * 1000.0, live, 0.0, 1] })
      end

      def test_lives_are_added_while_they_are_there
        points = Life.added([life(0, 59, 5.0), life(30, 59, 7.0)], from: 0.0)
        assert_equal [[0.0, 5], [29.0, 5], [30.0, 12], [59.0, 12]], points.values_at(0, 29, 30, -1)
        assert_equal 60, points.size
      end

      def test_time_counts_from_the_log
        assert_equal [30.0, 7], Life.added([life(30, 59, 7.0)], from: 0.0).first
      end

      def test_one_line
        assert_equal [[3.0, 7]], Life.added([life(3, 3, 7.0)], from: 0.0)
      end
    end
  end
end
