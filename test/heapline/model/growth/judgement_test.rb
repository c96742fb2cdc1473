# frozen_string_literal: true

require "test_helper"
require "heapline/model/growth/judgement"
require "heapline/model/growth/life"

module Heapline
  module Model
    class Growth
      class JudgementTest < Minitest::Test
        def life(process, slope, lines: 30)
          windows = Array.new(lines) do |i|
            [i * 60_000.0, 1e6 + (slope * i), i * 60_000.0, 1e6 + (slope * i), 0.0, i + 1]
          end
          Life.new(process: process, windows: windows)
        end

        def test_one_worker_of_eight_leaks
          judgement = Judgement.new(Array.new(7) { |i| life(i, 0) } << life(7, 60_000))
          assert_equal :leak, judgement.verdict
          assert_in_delta 1.0, judgement.trend.slope, 0.001
        end

        def test_none_of_eight_leaks
          judgement = Judgement.new(Array.new(8) { |i| life(i, 0) })
          assert_equal [:steady, 0.0], [judgement.verdict, judgement.trend.slope]
        end

        def test_all_leak
          judgement = Judgement.new([life(0, 60_000), life(1, 120_000)])
          assert_equal :leak, judgement.verdict
          assert_in_delta 1.5, judgement.trend.slope, 0.51
        end

        def test_many_questions_must_be_surer
          assert_in_delta 2.576, Judgement.reach(1), 0.001
          assert_in_delta 3.291, Judgement.reach(10), 0.001
        end
      end
    end
  end
end
