# frozen_string_literal: true

require "test_helper"
require "heapline/heap_dump/histogram"
require "support/heap_rows"

module Heapline
  class HeapDump
    class HistogramTest < Minitest::Test
      def groups(by)
        Histogram.new(Survey.new(HeapRows::Native.new)).groups(by).map { |group| [group.key, group.count, group.bytes] }
      end

      def test_each_kind
        assert_equal [["String", 3, 300], ["App", 1, 40]], groups(:class)
        assert_equal [["STRING", 3, 300], ["OBJECT", 1, 40]], groups(:type)
        assert_equal [["/g/gems/rack-3.0.8/lib/rack.rb:7", 1, 200], ["app.rb:1", 2, 100], ["(not traced)", 1, 40]],
                     groups(:line)
        assert_equal [["rack", 1, 200], ["(application)", 2, 100], ["(not traced)", 1, 40]], groups(:gem)
        assert_equal [[5, 1, 200], [2, 2, 100], ["(not traced)", 1, 40]], groups(:generation)
      end

      def test_an_unknown_kind
        assert_raises(ArgumentError) { groups(:colour) }
      end
    end
  end
end
