# frozen_string_literal: true

require "test_helper"
require "heapline/model/growth/series"

module Heapline
  module Model
    class Growth
      class SeriesTest < Minitest::Test
        def test_cost_is_the_certain_part
          assert_equal([30.0, 0.0, 0.0], [[10.0, 3], [-5.0, 3], [nil, 3]].map do |low, processes|
            Series.new(slope_low: low, processes: processes).cost
          end)
        end

        def test_frozen
          assert_predicate Series.new(location: "a.rb:1"), :frozen?
        end
      end
    end
  end
end
