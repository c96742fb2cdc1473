# frozen_string_literal: true

require "test_helper"
require "support/object_snapshots"
require "heapline/model/changes"

module Heapline
  module Model
    # Of Ruby objects; those of malloc are in the test of Comparison.
    class ChangesTest < Minitest::Test
      include ObjectSnapshots

      def changes(before, after, exact: true)
        Changes.new(objects(*before), objects(*after), exact: exact)
      end

      def test_a_class_at_a_line_is_compared_with_the_same_one
        found = changes([objects_at("a.rb", 1, "String", allocated: 5), objects_at("a.rb", 1, "Array", allocated: 2)],
                        [objects_at("a.rb", 1, "String", allocated: 9, freed: 1),
                         objects_at("a.rb", 1, "Array", allocated: 2)])
        assert_equal([["String", 3, 5, 8, 120, 4]], found.list.map do |change|
          [change.name, change.growth_blocks, change.before_blocks, change.live_blocks, change.growth_bytes,
           change.allocations]
        end)
      end

      def test_what_came_and_what_went
        found = changes([objects_at("old.rb", 1, "String", allocated: 5)],
                        [objects_at("new.rb", 1, "Hash", allocated: 2)])
        assert_equal({ "Hash" => 2, "String" => -5 }, found.list.to_h { |change| [change.name, change.growth_blocks] })
        assert found.list.all?(&:object?)
      end

      def test_sums
        found = changes([],
                        [objects_at("a.rb", 1, "String", allocated: 5), objects_at("b.rb", 1, "String", allocated: 2)])
        assert_equal([["String", 7]], found.sums(:class).map { |sum| [sum.location.to_s, sum.growth_blocks] })
        assert_raises(ArgumentError) { found.sums(:library) }
      end

      def test_another_deploy_is_no_difference
        old = objects_at("/srv/releases/20260101120000/a.rb", 1, "String", allocated: 5)
        new = objects_at("/srv/releases/20260202120000/a.rb", 1, "String", allocated: 5)
        assert_empty changes([old], [new], exact: false).list
        assert_equal 2, changes([old], [new]).list.size
      end
    end
  end
end
