# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/format/columns"

module Heapline
  module Format
    class ColumnsTest < Minitest::Test
      include Snapshots

      def test_each_column_prints_a_figure_of_a_site
        one = site("a.rb", 1, frees: 2, age_sum: 3)
        Columns::ALL.each { |column| assert_match(/\d/, column.text(one), column.key.to_s) }
        assert_equal "1.5", Columns.fetch(:life).text(one)
      end

      def test_an_unknown_key_names_the_known_ones
        error = assert_raises(ArgumentError) { Columns.fetch(:size) }
        assert_match(/growth, retained/, error.message)
      end

      def test_the_sorted_column_is_among_those_shown
        assert_includes Columns.for(:retained).map(&:key), :retained
        refute_includes Columns.for(:growth).map(&:key), :retained
      end
    end
  end
end
