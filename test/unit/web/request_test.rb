# frozen_string_literal: true

require "test_helper"
require "heapline/web/request"

module Heapline
  module Web
    class RequestTest < Minitest::Test
      ENV_OF_A_SERVER = {
        "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "/heapline", "PATH_INFO" => "/at//app/leak.rb:12",
        "QUERY_STRING" => "top=3&sort=live", "HTTP_ACCEPT" => "text/html", "HTTP_AUTHORIZATION" => "Bearer x",
        "HTTP_HOST" => "localhost:1"
      }.freeze

      def test_of_rack
        request = Request.of_rack(ENV_OF_A_SERVER)
        assert_equal ["GET", "/at//app/leak.rb:12", "/heapline", "text/html", "Bearer x", "localhost:1"],
                     [request.verb, request.path, request.base, request.accept, request.authorization, request.host]
        assert_equal({ "top" => "3", "sort" => "live" }, request.params)
        assert_predicate request, :frozen?
      end

      def test_of_rack_with_next_to_nothing
        request = Request.of_rack({})
        assert_equal ["", "", "", {}, nil], [request.verb, request.path, request.base, request.params, request.host]
      end

      def test_the_query_is_decoded
        assert_equal({ "a" => "x y&", "b" => "", "c" => "2" }, Request.params("a=x+y%26&b&c=1&c=2"))
        assert_equal({ "%zz" => "%4" }, Request.params("%zz=%4"))
      end

      def test_decode_takes_any_bytes
        assert_equal "\xFFé/", Request.decode("%FF%C3%A9/")
      end

      def test_only_get_and_head_read
        reading = %w[GET HEAD POST get DELETE].map { |verb| Request.new(verb: verb, path: "/").reading? }
        assert_equal [true, true, false, false, false], reading
      end
    end

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
          assert_match(/\A#{name}[:=]/, error.message)
        end
        [nil, "", "0", "11", "1.5", "1" * 50].each do |text|
          assert_raises(UsageError) { Query.new("seconds" => text).seconds(1..10) }
        end
      end
    end
  end
end
