# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/model/rates"

module Heapline
  module Model
    class RatesTest < Minitest::Test
      include Snapshots

      BEFORE = { live_bytes: 100, bytes_allocated: 1000, allocations: 10, frees: 4, temporary: 4 }.freeze
      AFTER = { live_bytes: 40, bytes_allocated: 3000, allocations: 30, frees: 24, temporary: 9 }.freeze

      def test_a_second
        rates = Rates.between(site("a.rb", 1, **BEFORE), site("a.rb", 1, **AFTER), 2.0)
        assert_equal [-30.0, 1000.0, 10.0, 0.25],
                     [rates.live_bytes, rates.bytes_allocated, rates.allocations, rates.temporary_share]
      end

      def test_what_is_new_counts_from_nothing
        assert_equal 3000.0, Rates.between(nil, site("a.rb", 1, **AFTER), 1.0).bytes_allocated
      end

      def test_whole_snapshots
        rates = Rates.between(snapshot(site("a.rb", 1, **BEFORE)), snapshot(site("a.rb", 1, **AFTER)), 2.0)
        assert_equal 1000.0, rates.bytes_allocated
      end

      def test_no_time_and_no_frees
        assert_nil Rates.between(nil, site("a.rb", 1), nil)
        assert_nil Rates.between(nil, site("a.rb", 1), 0.0)
        assert_nil Rates.between(site("a.rb", 1, **BEFORE), site("a.rb", 1, **BEFORE), 1.0).temporary_share
      end
    end
  end
end
