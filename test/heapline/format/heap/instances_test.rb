# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/format/heap/instances"
require "heapline/format/heap/json"

module Heapline
  module Format
    module Heap
      class InstancesTest < Minitest::Test
        include Golden
        include HeapValues

        def instances(name, **options)
          group = shop.histogram.find { |each| each.key == name }
          Instances.new(**options).sheet(shop, group)
        end

        def test_the_ways_to_all_strings
          assert_golden("heap/find_class", shown(instances("String", path: true)))
        end

        def test_paths_that_differ_in_indices_are_one
          assert_match(/^ +2  \$sessions → Array\[…\] → #<Session>$/, shown(instances("Session", path: true)))
        end

        def test_an_instance_counts_once_for_each_kind_of_referrer
          assert_match(/Referenced by\n  instances▼  referrer\n +2  Hash\[:page\]\n +1  Hash\[:greeting\]/,
                       shown(instances("String")))
        end

        def test_rows_are_bounded
          listing = instances("String", path: true, top: 1).parts
          assert_equal [1, 1, 1], (listing.grep(Listing).map { |each| each.rows.size })
        end

        def test_values_can_be_hidden
          sheet = instances("String", path: true, values: false)
          refute_match(/hello|html/, shown(sheet) + Json.new.to_h(sheet).to_s)
        end
      end
    end
  end
end
