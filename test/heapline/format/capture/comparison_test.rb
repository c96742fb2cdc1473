# frozen_string_literal: true

require "test_helper"
require "heapline/format/capture/comparison"
require "heapline/model/capture"

module Heapline
  module Format
    module Capture
      class ComparisonTest < Minitest::Test
        def change(key, before, after)
          sums = [before, after].map { |bytes| Model::Capture::Sums.of([0, 0, 0, bytes, *[0] * 6]) }
          Model::Capture::Change.new(key: key, label: "m", before: sums.first, after: sums.last)
        end

        def frames(*names)
          names.map { |name| Model::Capture::Frame.new(label: name, path: "/a/x.rb", lineno: 1) }
        end

        def listings(groups, stacks, **options)
          Comparison.new(**options).sheet(groups, stacks, [["a", nil], ["b", nil]], []).parts
        end

        def test_what_grew_and_what_shrank_most
          changes = (1..10).map do |n|
            change("g#{n}", 0, n)
          end + [change("s", 9, 0), change("t", 3, 0), change("same", 4, 4)]
          listing = listings(changes, [], top: 4).first
          assert_equal %w[g10 g9 g8 s], listing.rows.map(&:key)
          assert_equal 12, listing.total
          assert_equal [10, -9], (listing.rows.values_at(0, 3).map { |row| listing.columns.first.value(row) })
          assert_equal 12, listings(changes, [], top: 0).first.rows.size
        end

        def test_labels
          lines, stacks = listings([change("a.rb:1", 0, 1)],
                                   [change(frames("main", "a", "b", "c", "d"), 0, 1), change([], 0, 2)])
          assert_equal %w[m a.rb:1], lines.label.call(lines.rows.first).to_a
          assert_equal ["(unknown)", "d x.rb:1 ← c x.rb:1 ← b x.rb:1 ← a x.rb:1 ← …"],
                       (stacks.rows.map { |row| stacks.label.call(row).text })
          assert_equal 5, stacks.data.call(stacks.rows.last)[:frames].size
        end

        def test_by_something_else
          listing = listings([change("rack", 0, 1)], [], by: :gem).first
          assert_equal ["rack", nil], listing.label.call(listing.rows.first).to_a
          assert_equal "rack", listing.data.call(listing.rows.first)[:gem]
        end
      end
    end
  end
end
