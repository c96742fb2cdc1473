# frozen_string_literal: true

require "test_helper"
require "support/golden"
require "support/heap_values"
require "heapline/format/heap/holders"
require "heapline/format/heap/json"

module Heapline
  module Format
    module Heap
      class HoldersTest < Minitest::Test
        include Golden
        include HeapValues

        def test_the_largest_each_below_what_holds_it
          assert_golden("heap/dominators", shown(Holders.new.sheet(shop)))
        end

        def test_by_class
          assert_golden("heap/dominators_by_class", shown(Holders.new.by_class(shop)))
        end

        def test_under_one
          assert_golden("heap/dominators_under", shown(Holders.new.under(shop, shop.object(0x31))))
        end

        def test_garbage_is_held_by_nothing
          assert_nil Holders.new.under(shop, shop.object(0x60))
        end

        def test_json
          rows = Json.new.to_h(Holders.new(top: 3).sheet(shop))[:holders]
          assert_equal [["0x20", 0, 2976], ["0x21", 1, 1448], ["0x22", 1, 1448]],
                       (rows.map { |row| row.values_at(:address, :depth, :retained_bytes) })
        end

        def test_values_can_be_hidden
          refute_match(/html/, shown(Holders.new(values: false).sheet(shop)))
        end
      end
    end
  end
end
