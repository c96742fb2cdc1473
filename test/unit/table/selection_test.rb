# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/table/selection"

module Heapline
  module Table
    class SelectionTest < Minitest::Test
      include Snapshots

      def sites
        [site("a.rb", 1, live_bytes: 10, frees: 7), site("b.rb", 2, live_bytes: 30, bytes_allocated: 1),
         site("c.rb", 3, live_bytes: 30, bytes_allocated: 2), site("d.rb", 4, live_bytes: -20)]
      end

      def chosen(**options)
        Selection.new(**options).of(sites).map { |site| site.location.path }
      end

      def test_the_largest_first_and_equals_in_a_fixed_order
        assert_equal %w[c.rb b.rb a.rb d.rb], chosen
        assert_equal %w[a.rb c.rb b.rb d.rb], chosen(sort: :frees)
      end

      def test_top_and_min
        assert_equal %w[c.rb b.rb], chosen(top: 2)
        assert_equal %w[c.rb b.rb d.rb], chosen(min: 20)
      end

      def test_the_location_decides_last
        twins = %w[b.rb a.rb c.rb].map { |path| site(path, 1, live_bytes: 5) }
        assert_equal(%w[a.rb b.rb], Selection.new(top: 2).of(twins).map { |site| site.location.path })
      end

      def test_the_first_of_all_are_the_first_of_the_chosen
        many = (1..50).map { |i| site("#{i}.rb", i, live_bytes: i % 7, bytes_allocated: i % 3) }
        (1..50).each { |top| assert_equal Selection.new.of(many).first(top), Selection.new(top: top).of(many) }
      end
    end
  end
end
