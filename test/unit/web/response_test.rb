# frozen_string_literal: true

require "test_helper"
require "heapline/web/response"
require "socket"
require "stringio"

module Heapline
  module Web
    class ResponseTest < Minitest::Test
      def test_every_answer_is_guarded
        headers = Response.of("x", type: "text/html").headers
        assert_equal %w[no-store nosniff 1],
                     headers.values_at("cache-control", "x-content-type-options", "content-length")
        assert_includes headers["content-security-policy"], "default-src 'none'"
        assert(headers.keys.all? { |name| name == name.downcase }, "Rack 3 wants names in lower case")
      end

      def test_a_problem_is_a_line_of_text
        response = Response.problem(405, "no", allow: "GET, HEAD")
        assert_equal [405, "heapline: no\n", "GET, HEAD"], [response.status, response.body, response.headers["allow"]]
      end

      def test_rack_gets_its_own_copy_of_the_headers
        response = Response.problem(404, "no")
        status, headers, body = response.to_rack
        headers["x"] = "y"
        refute response.headers.key?("x")
        assert_equal [404, ["heapline: no\n"]], [status, body]
        assert_equal [], response.to_rack(head: true).last
      end

      def test_http_has_the_length_in_bytes_and_ends_the_connection
        wire = Response.of("é", type: "text/plain").to_http
        head, body = wire.split("\r\n\r\n")
        assert_equal "é".b, body
        assert_match(%r{\AHTTP/1\.1 200 OK\r\n}, head)
        assert_includes head, "content-length: 2"
        assert head.end_with?("connection: close")
        assert Response.of("é", type: "text/plain").to_http(head: true).end_with?("\r\n\r\n")
      end

      def test_every_status_has_its_words
        [200, 400, 401, 403, 404, 405, 408, 431, 500, 503].each { |status| Response.problem(status, "x").to_http }
      end
    end

    class LaterTest < Minitest::Test
      def test_finishes_after_the_time_has_passed
        waited = nil
        assert_equal(:done, Later.new(7) { :done }.take { |seconds| waited = seconds })
        assert_equal 7, waited
      end

      def test_does_not_finish_for_nobody
        assert_nil(Later.new(7) { flunk }.take { false })
      end

      def test_leaves_whatever_happens
        left = 0
        later = Later.new(7) { raise "no" }.leaving { left += 1 }
        assert_raises(RuntimeError) { later.take { true } }
        later.take { false }
        assert_equal 2, left
      end
    end

    class OutputTest < Minitest::Test
      def test_writes_more_than_fits_at_once
        bytes = Random.bytes(3_000_000)
        near, far = UNIXSocket.pair
        reader = Thread.new { far.read }
        assert Response.write(near, bytes)
        near.close
        assert_equal bytes, reader.value
      ensure
        far&.close
      end

      def test_raises_when_the_client_has_gone
        near, far = UNIXSocket.pair
        far.close
        assert_raises(Errno::EPIPE) { Response.write(near, "x" * 1_000_000) }
      end

      def test_takes_what_is_no_io
        io = StringIO.new
        assert Response.write(io, "x")
        assert_equal "x", io.string
      end
    end
  end
end
