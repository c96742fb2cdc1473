# frozen_string_literal: true

require "test_helper"
require "support/reports"
require "heapline/format/html"

module Heapline
  module Format
    class Html
      class GrowthDataTest < Minitest::Test
        include Reports

        def test_the_log_in_words
          assert_equal ["3 processes", "2 hosts", "20 min 00 s", "2027-01-15 08:00 to 2027-01-15 08:20 UTC"],
                       GrowthData.new(growth).to_h[:facts]
        end

        def test_an_empty_log
          empty = GrowthData.new(GrowthDouble.new([], {}, [], nil)).to_h
          assert_equal({ facts: ["0 processes"], memory: [], series: [] }, empty)
        end

        def test_the_processes_memory
          found = GrowthData.new(growth).to_h[:memory]
          assert_equal ["RSS", "malloc live"], (found.map { |one| one[:name] })
          assert_equal 6_000_000, found.first[:slope]
          assert_equal [600, 55_000_000], found.first[:points][1]
        end

        def test_series_are_inert_and_their_slopes_are_numbers
          odd = series("/a\e.rb:1", slope_bytes_per_hour: 1.6, slope_low: -Float::INFINITY, slope_high: Float::NAN)
          found = GrowthData.new(growth(odd)).to_h[:series].first
          assert_equal ["/a\\x1B.rb:1", 2, nil, nil], found.values_at(:location, :slope, :slope_low, :slope_high)
        end
      end
    end
  end
end
