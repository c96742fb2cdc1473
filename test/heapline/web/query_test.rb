# frozen_string_literal: true

require "test_helper"
require "heapline/web/query"

module Heapline
  module Web
    class QueryTest < Minitest::Test
      def test_what_is_meant_when_nothing_is_said
        query = Query.new({})
        assert_equal [50, 0, :growth, nil], [query.top(50), query.min, query.column.key, query.by]
      end

      def test_what_is_said
        query = Query.new("top" => "0", "min" => "1.5k", "sort" => "life", "by" => "gem", "seconds" => "5")
        assert_equal [0, 1500, :life, :gem, 5],
                     [query.top(50), query.min, query.column.key, query.by, query.seconds(1..10)]
      end

      def test_what_cannot_be_is_refused_with_what_can
        { top: "-1", min: "much", sort: "size\e[1m", by: "class" }.each do |name, value|
          query = Query.new(name.to_s => value)
          error = assert_raises(UsageError) { [query.top(1), query.min, query.column, query.by] }
          refute_includes error.message, "\e"
        end
        [nil, "", "0", "11", "1.5", "1" * 50].each do |text|
          assert_raises(UsageError) { Query.new("seconds" => text).seconds(1..10) }
        end
      end
    end
  end
end
