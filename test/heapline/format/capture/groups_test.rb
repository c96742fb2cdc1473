# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/groups"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class GroupsTest < Minitest::Test
        def groups
          %w[a.rb:1 b.rb:2].map.with_index(1) do |key, n|
            Model::Capture::Group.new(key: key, label: "m#{n}", sums: Model::Capture::Sums.of([n] * 10))
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
end
