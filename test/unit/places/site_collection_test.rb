# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"

module Heapline
  module Places
    # What Snapshots and Objects share; more of it is in their own tests.
    class SiteCollectionTest < Minitest::Test
      include ObjectSnapshots

      def collections
        [snapshot(site("a.rb", 1, live_bytes: 40, allocations: 1), site("a.rb", 1, tag: "job", live_bytes: 80)),
         objects(objects_at("a.rb", 1, "String", allocated: 1), objects_at("a.rb", 1, "Array", allocated: 2))]
      end

      def test_sums_over_what_is_at_one_place
        collections.each do |one|
          assert_equal [120], one.sums(:location).map(&:live_bytes)
          assert_equal 120, one["a.rb:1"].live_bytes
          assert_equal ["(application)"], (one.sums(:gem).map { |sum| sum.location.to_s })
        end
      end

      def test_group_by_with_a_block_is_enumerables
        collections.each { |one| assert_equal [1, 1], one.group_by(&:live_bytes).values.map(&:size) }
      end

      def test_what_is_the_same_in_both_has_no_difference
        collections.each { |one| assert_empty (one - one).to_a }
      end

      def test_twins_are_one
        twins = Array.new(2) { objects_at("a.rb", 1, "String", allocated: 1) }
        assert_equal [2], objects(*twins).by_key.values.map(&:allocated)
      end
    end
  end
end
