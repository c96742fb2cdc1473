# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/model/heap/held"

module Heapline
  module Model
    module Heap
      class HeldTest < Minitest::Test
        include HeapValues

        def test_by_class
          groups = Held.by_class(shop.dominators.children(0x20))
          assert_equal [["Session", 2, 2896, 80], ["String", 1, 40, 40]],
                       (groups.map { |group| [group.key, group.count, group.bytes, group.slot_bytes] })
        end

        def test_of_what_holds_nothing
          assert_empty Held.by_class(shop.dominators.children(0x81))
        end
      end
    end
  end
end
