# frozen_string_literal: true

require "test_helper"
require "socket"
require "heapline/web/connection"

module Heapline
  module Web
    class ConnectionTest < Minitest::Test
      HEAD = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"

      def setup
        super
        @stop, @stopper = IO.pipe
        @client, @server = UNIXSocket.pair
      end

      def teardown
        [@stop, @stopper, @client, @server].each { |io| io.close unless io.closed? }
        super
      end

      def test_one_request_one_answer
        assert_equal "/x", body_of(talk(HEAD))
        assert_predicate @server, :closed?
      end

      def test_a_request_may_come_in_pieces
        serving do
          HEAD.each_char { |char| @client.write(char) }
          assert_equal "/x", body_of(@client.read)
        end
      end

      def test_what_follows_the_request_is_not_another
        assert_equal 1, talk(HEAD * 3).scan("HTTP/1.1 200").size
      end

      def test_a_client_that_sends_a_body_gets_to_read_the_answer
        assert_match(%r{\AHTTP/1\.1 200}, talk("POST /x HTTP/1.1\r\nHost: x\r\n\r\n#{"b" * 100_000}"))
      end

      def test_bad_requests_are_said_to_be
        assert_match(%r{\AHTTP/1\.1 400 }, talk("nonsense\r\n\r\n"))
      end

      def test_the_head_is_bounded
        assert_match(%r{\AHTTP/1\.1 431 }, talk("GET / HTTP/1.1\r\nHost: x\r\nX: #{"x" * 20_000}\r\n\r\n"))
      end

      def test_the_head_has_to_come_in_time
        assert_match(%r{\AHTTP/1\.1 408 }, talk("GET / HTTP/1.1\r\n", patience: 0.05))
      end

      def test_a_client_that_leaves_is_no_problem
        serving(0) { @client.close }
      end

      def test_waiting_ends_with_the_server_or_the_client
        [-> { @stopper.write(".") }, -> { @client.close }].each do |ending|
          finished = false
          began = Thread::Queue.new
          later = lambda do |_|
            began << true
            Later.new(3600) { finished = true }
          end
          serving(1, later) do
            @client.write(HEAD)
            began.pop
            ending.call
          end
          refute finished
          @stop.read_nonblock(1, exception: false)
          @client, @server = UNIXSocket.pair
        end
      end

      def test_waiting_takes_its_time
        answer = ->(_) { Later.new(0.01) { Response.problem(200, "later") } }
        serving(1, answer) do
          @client.write(HEAD)
          assert_equal "heapline: later\n", body_of(@client.read)
        end
      end

      def test_refusing_needs_no_request
        Connection.new(@server, stop: @stop).refuse(Response.problem(503, "full"))
        assert_match(%r{\AHTTP/1\.1 503 .*full}m, @client.read)
      end

      private

      def talk(bytes, **options)
        serving(1, **options) do
          @client.write(bytes)
          return @client.read
        end
      end

      def serving(expected = 1, answer = nil, **options)
        asked = 0
        answer ||= ->(request) { Response.of(request.path, type: "text/plain") }
        thread = Thread.new do
          Connection.new(@server, stop: @stop, **options).serve do |request|
            asked += 1
            answer.call(request)
          end
        end
        yield
      ensure
        @client.close unless @client.closed?
        assert thread.join(60), "the connection did not end"
        assert_operator asked, :<=, expected
      end

      def body_of(answer)
        answer.split("\r\n\r\n", 2).last
      end
    end
  end
end
