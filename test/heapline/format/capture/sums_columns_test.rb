# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/sums_columns"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class SumsColumnsTest < Minitest::Test
        def group(*sums)
          Model::Capture::Group.new(key: sums.join, sums: Model::Capture::Sums.of(sums))
        end

        def test_the_largest_first
          groups = [group(1, 50, 0, 7, 0, 9, 0, 2), group(2, 40, 0, 8, 0, 3, 0, 4)]
          assert_equal groups, SumsColumns.first(groups, :live, 0)
          assert_equal groups.reverse, SumsColumns.first(groups, :temporary, 5)
          assert_equal [groups.last], SumsColumns.first(groups, :peak, 1)
        end

        def test_every_figure_is_a_column
          sums = group(*1..10)
          assert_equal [4, 6, 2, 1, 8, 3, 5, 7, 10, 9], (SumsColumns::ALL.map { |column| column.value(sums) })
        end
      end
    end
  end
end
