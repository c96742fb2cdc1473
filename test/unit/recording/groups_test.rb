# frozen_string_literal: true

require "test_helper"
require "heapline/recording/groups"
require "heapline/recording/model"

module Heapline
  class Recording
    class SumsColumnsTest < Minitest::Test
      def group(*sums)
        Group.new(key: sums.join, sums: Sums.of(sums))
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

    class GroupsTest < Minitest::Test
      def groups
        %w[a.rb:1 b.rb:2].map.with_index(1) do |key, n|
          Group.new(key: key, label: "m#{n}", sums: Sums.of([n] * 10))
        end
      end

      def test_lines_have_a_place_and_what_is_in_it
        listing = Groups.listing(groups, by: :line, top: 1)
        assert_equal ["b.rb:2"], listing.rows.map(&:key)
        assert_equal 2, listing.total
        label = listing.label.call(listing.rows.first)
        assert_equal ["m2", "b.rb:2"], [label.text, label.place]
        data = listing.data.call(listing.rows.first)
        assert_equal ["b.rb:2", "m2", 2], data.values_at(:line, :label, :peak_blocks)
      end

      def test_others_have_a_name
        label = Groups.listing(groups, by: :gem).label.call(groups.first)
        assert_equal ["a.rb:1", nil], [label.text, label.place]
      end
    end
  end
end
