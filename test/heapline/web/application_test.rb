# frozen_string_literal: true

require "test_helper"
require "heapline/web/application"

module Heapline
  module Web
    class ApplicationTest < Minitest::Test
      TOKEN = "0123456789abcdef"

      def test_only_with_the_token
        assert_equal 401, ask.status
        assert_equal 401, ask(authorization: "Bearer x\xFF\0").status
        assert_match(/Bearer/, ask.headers["www-authenticate"])
        assert_equal [200, "/each"], ask(authorization: "Bearer #{TOKEN}").to_a.values_at(0, 2)
      end

      def test_only_reading
        %w[POST PUT PATCH DELETE OPTIONS TRACE get].each do |verb|
          response = ask(verb: verb, authorization: "Bearer #{TOKEN}")
          assert_equal [405, "GET, HEAD"], [response.status, response.headers["allow"]]
        end
      end

      def test_every_problem_is_an_answer
        { UsageError => 400, FlightError => 404, Missing => 404, Busy => 503, NotEnabled => 503,
          ArgumentError => 500 }.each do |error, status|
          response = ask(authorization: "Bearer #{TOKEN}") { raise error, "no \e[31m" }
          assert_equal status, response.status
          assert_includes response.body, "no \\x1B[31m"
        end
      end

      private

      def ask(verb: "GET", authorization: nil, &route)
        route ||= ->(request) { Response.of(request.path, type: "text/plain") }
        request = Request.new(verb: verb, path: "/each", authorization: authorization)
        Application.new(Access.new(token: TOKEN), &route).call(request)
      end
    end
  end
end
