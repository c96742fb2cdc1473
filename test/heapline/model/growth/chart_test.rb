# frozen_string_literal: true

require "test_helper"
require "heapline/model/growth/chart"
require "heapline/model/growth/life"

module Heapline
  module Model
    class Growth
      class ChartTest < Minitest::Test
        def life(from, to, live)
          Life.new(windows: (from..to).map { |i| [i * 1000.0, live, i * 1000.0, live, 0.0, 1] })
        end

        def test_lives_are_added_while_they_are_there
          points = Chart.points([life(0, 59, 5.0), life(30, 59, 7.0)], from: 0.0)
          assert_equal [[0.0, 5], [29.0, 5], [30.0, 12], [59.0, 12]], points.values_at(0, 29, 30, -1)
          assert_equal 60, points.size
        end

        def test_time_counts_from_the_log
          assert_equal [30.0, 7], Chart.points([life(30, 59, 7.0)], from: 0.0).first
        end

        def test_one_line
          assert_equal [[3.0, 7]], Chart.points([life(3, 3, 7.0)], from: 0.0)
        end
      end
    end
  end
end
