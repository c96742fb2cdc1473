# frozen_string_literal: true

require "test_helper"
require "support/flight_builder"
require "heapline/growth_log/counts"

module Heapline
  module GrowthLog
    class CountsTest < Minitest::Test
      def counts(*rows)
        Counts.new(rows.flatten.pack("q*"))
      end

      def test_a_site_by_its_number
        found = counts([1, 1, 10, 10, 0], [5, 2, 500, 200, 70])
        assert_equal [0, 1], found.numbers.to_a
        assert_equal [500, 300, 70], [found.bytes_allocated(1), found.live_bytes(1), found.base_bytes(1)]
        assert_equal [0, 0, 0], [found.bytes_allocated(9), found.live_bytes(9), found.base_bytes(9)]
        assert_empty Counts::NONE.numbers.to_a
      end

      def test_totals_leave_out_what_is_quiet
        found = counts([1, 0, 10, 0, 0], [0, 0, 0, 0, 0], [9, 9, 900, 9, 9], [4, 1, 40, 10, 0])
        assert_equal({ live_bytes: 40, live_blocks: 4, allocations: 5, frees: 1, bytes_allocated: 50, bytes_freed: 10 },
                     found.totals)
      end

      # The extension's order of the five numbers is this class's.
      def test_of_a_flight_file
        builder = FlightBuilder.new(baseline: 1, baseline_kind: 1)
        site = builder.ruby_site("a.rb", 1)
        builder.lane(0, baseline: 1)
        builder.base(0, site, allocations: 3, bytes_allocated: 300, frees: 1, bytes_freed: 100)
        builder.count(0, site, allocations: 10, bytes_allocated: 1000, frees: 4, bytes_freed: 400)
        in_directory do |directory|
          found = nil
          raw = Model::Flight.choose(builder.write(File.join(directory, "x"))) do |packed|
            found = Counts.new(packed)
            [site, site + 1, 99_999]
          end
          assert_equal [1000, 600, 200, 10, 4],
                       [found.bytes_allocated(site), found.live_bytes(site), found.base_bytes(site),
                        found.totals[:allocations], found.totals[:frees]]
          one = raw[:sites].fetch(site)
          assert_equal [[site], "a.rb:1", :ruby], [raw[:sites].keys, one.location.to_s, one.kind]
          assert_raises(TypeError) { Model::Flight.choose(File.join(directory, "x")) { 5 } }
        end
      end
    end
  end
end
