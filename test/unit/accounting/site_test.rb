# frozen_string_literal: true

require "test_helper"
require "support/snapshots"

module Heapline
  module Accounting
    class SiteTest < Minitest::Test
      include Snapshots

      def test_values_by_keyword_or_in_order
        named = Site.new(location: nil, **Site::ZERO, allocations: 3)
        assert_equal named, Site.new(*Site.members.map { |name| { allocations: 3 }.fetch(name) { Site::ZERO[name] } })
        assert named.frozen?
        assert_raises(NameError) { Site.new(weight: 1) }
      end

      def test_mean_lifespans
        one = site("a.rb", 1, frees: 4, age_sum: 6, age_ms_sum: 10)
        assert_equal [1.5, 2.5], [one.mean_age, one.mean_age_ms]
        assert_equal [0.0, 0.0], [site("a.rb", 1).mean_age, site("a.rb", 1).mean_age_ms]
      end

      def test_sums_add_figures_and_keep_maxima
        sum = Site.sum([site("a.rb", 1, frees: 1, age_max: 3, tag: "x"), site("a.rb", 1, frees: 2, age_max: 9)],
                       location: nil)
        assert_equal [3, 9, nil, :ruby], [sum.frees, sum.age_max, sum.tag, sum.kind]
        assert_equal 0, Site.sum([], location: nil).age_max
      end

      def test_differences
        before = site("a.rb", 1, allocations: 5, live_bytes: 50, growth_bytes: 1)
        after = site("a.rb", 1, allocations: 8, live_bytes: 40, growth_bytes: 2)
        difference = Site.difference(after, before)
        assert_equal [3, -10, -10], [difference.allocations, difference.live_bytes, difference.growth_bytes]
        assert_equal [8, 40], [Site.difference(after, nil).allocations, Site.difference(after, nil).live_bytes]
        assert_equal(-5, Site.difference(nil, before).allocations)
        assert Site.difference(after, after).idle?
      end
    end
  end
end
