# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/format/heap/facts"

module Heapline
  module Format
    module Heap
      class FactsTest < Minitest::Test
        include HeapValues

        def test_of_a_plain_dump
          assert_equal ["12 objects", "4.34 kB"], Facts.of(shop.summary)
          assert_equal "1 object", Facts.of(shop.summary.dup.tap { |copy| copy.objects = 1 }).first
        end

        def test_of_one_by_heapline
          time = Time.local(2027, 1, 15, 8, 0, 0)
          ["3.4.1", "ruby 3.4.1 (2026-12-25) [x86_64-linux]"].each do |ruby|
            assert_equal ["12 objects", "4.34 kB", "Ruby 3.4.1", "pid 7", "2027-01-15 08:00:00"],
                         Facts.of(shop(ruby: ruby, pid: 7, time: time).summary)
          end
        end
      end
    end
  end
end
