# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/heap/nodes"
require "heapline/heap/object_words"
require "heapline/page/data"

module Heapline
  module Heap
    class NodesTest < Minitest::Test
      include HeapValues

      def setup
        super
        @strings = Heapline::Page::Strings.new
      end

      def columns(dump = shop)
        @columns ||= Nodes.new(dump, ObjectWords.new, @strings).to_h
      end

      def at(address)
        columns[:address].index(address)
      end

      def test_the_way_from_a_root
        way = []
        here = at("0x81")
        until here == Nodes::NONE
          way.unshift(@strings.all[columns[:words][here]])
          here = columns[:via][here]
        end
        assert_equal ["root global_tbl (global variables)", "Array of 2 elements",
                      "#<Session>", "Hash of 2 pairs"], way.first(4)
        assert_equal "[:page]", @strings.all[columns[:name][at("0x81")]]
      end

      def test_what_retains_what
        assert_equal [2976, 8], [columns[:retained][at("0x20")], columns[:retained_objects][at("0x20")]]
        assert_equal at("0x20"), columns[:holder][at("0x50")]
        assert_equal Nodes::NONE, columns[:holder][at("0x20")]
        assert_nil at("0x60")
      end

      def test_referrers
        total, *some = columns[:referrers][at("0x50")]
        assert_equal 2, total
        assert_equal([at("0x31"), at("0x32")], some.map(&:first))
      end

      def test_what_is_held_by_class
        held = columns[:held][at("0x20")].map { |name, *figures| [@strings.all[name], *figures] }
        assert_equal [["Session", 2, 2896], ["String", 1, 40]], held
      end

      def test_every_column_is_as_long
        sizes = columns.except(:referrers, :held).transform_values(&:size)
        assert_equal 1, sizes.values.uniq.size, sizes
      end

      def test_it_is_bounded
        columns = Nodes.new(shop, ObjectWords.new, @strings, most: 5).to_h
        assert_equal 5, columns[:bytes].size
        assert(columns[:via].all? { |via| via < 5 })
        assert(columns[:referrers].keys.all? { |node| node < 5 })
      end
    end
  end
end
