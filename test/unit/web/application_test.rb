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

    class AccessTest < Minitest::Test
      TOKEN = "0123456789abcdef"

      def test_refuses_to_be_made_without_a_token
        [{}, { token: nil }, { token: "" }, { token: "short" }, { token: nil, open: nil }].each do |given|
          error = assert_raises(UsageError) { Access.new(**given) }
          assert_match(/HEAPLINE_TOKEN/, error.message)
        end
        assert_raises(UsageError) { Access.new(token: TOKEN, open: true) }
      end

      def test_open_lets_everyone_in
        assert Access.new(open: true).allows?(nil)
      end

      def test_the_token_as_bearer_or_password
        access = Access.new(token: TOKEN)
        ["Bearer #{TOKEN}", "bearer  #{TOKEN} ", "Basic #{["x:#{TOKEN}"].pack("m0")}",
         "basic #{[":#{TOKEN}"].pack("m0")}"].each { |header| assert access.allows?(header), header }
      end

      def test_nothing_else
        access = Access.new(token: TOKEN)
        [nil, "", "Bearer", "Bearer #{TOKEN}x", "Bearer #{TOKEN[0..-2]}", TOKEN, "Digest #{TOKEN}", "Basic #{TOKEN}",
         "Basic #{["#{TOKEN}:x"].pack("m0")}", "Basic \xFF\x00"].each do |header|
          refute access.allows?(header), header.inspect
        end
      end

      def test_a_password_may_have_colons
        token = "a:b:c:d:e:f:g:h:i"
        assert Access.new(token: token).allows?("Basic #{["x:#{token}"].pack("m0")}")
      end

      def test_shows_nothing_of_the_token
        refute_includes Access.new(token: TOKEN).inspect, TOKEN
      end
    end
  end
end
