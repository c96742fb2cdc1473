# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/groups"

module Heapline
  module Heap
    class GroupsTest < Minitest::Test
      include HeapValues

      def test_shares_are_of_the_total
        listing = Groups.new(8672).listing(:class, shop.histogram)
        share = listing.columns.find { |column| column.key == :share }
        assert_equal ["30.0 %", "14.8 %", "3.9 %", "0.9 %", "0.5 %"], (listing.rows.map { |row| share.text(row) })
      end

      def test_of_nothing
        listing = Groups.new(0).listing(:class, [])
        assert_empty listing.rows
      end

      def test_a_file_is_a_place_and_a_class_is_words
        assert_equal ["a.rb", nil], Groups.label(:file, "a.rb").to_h.values_at(:place, :text)
        assert_equal ["Session", "a.rb:3"],
                     Groups.label(:class, "Session", Places::Location.new("a.rb", 3)).to_h.values_at(:text, :place)
        assert_equal [nil, "7"], Groups.label(:generation, 7).to_h.values_at(:place, :text)
      end
    end
  end
end
