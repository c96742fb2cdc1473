# frozen_string_literal: true

require "test_helper"
require "heapline/table/sheet"

module Heapline
  module Table
    class SheetTest < Minitest::Test
      def test_what_is_left_out_is_not_known
        assert_nil Listing.new(key: :groups).total
        assert_nil Statement.new(key: :totals).separator
        assert_nil Label.new(text: "a").place
      end

      def test_a_misspelt_part_is_an_error
        assert_raises(ArgumentError) { Listing.new(colums: []) }
      end
    end
  end
end
