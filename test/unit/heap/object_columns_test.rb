# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/object_columns"
require "heapline/heap/object_words"

module Heapline
  module Heap
    class ObjectColumnsTest < Minitest::Test
      include HeapValues

      def columns
        ObjectColumns.new(ObjectWords.new)
      end

      def figures(listing)
        listing.columns.map { |column| column.text(listing.rows.first) }
      end

      def test_holders
        listing = columns.holders(shop.dominators.top(1), 5952)
        assert_equal ["2.98 kB", "50.0 %", "8", "40 B"], figures(listing)
        assert_equal ["0.0 %"], figures(columns.holders(shop.dominators.top(1), 10**9))[1, 1]
      end

      def test_roots_have_no_bytes
        assert_equal ["-"], figures(columns.references(shop.referrers(0x20)))
      end

      def test_objects
        assert_equal ["40 B"], figures(columns.objects([shop.object(0x20)]))
      end
    end
  end
end
