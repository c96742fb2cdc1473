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

    class HeadTest < Minitest::Test
      def test_a_request
        request = parse("GET /4711/each?top=3&sort=live HTTP/1.1", "Host: localhost:80", "ACCEPT: text/html",
                        "authorization:Bearer x ")
        assert_equal ["GET", "/4711/each", { "top" => "3", "sort" => "live" }, "", "text/html", "Bearer x",
                      "localhost:80"],
                     [request.verb, request.path, request.params, request.base, request.accept, request.authorization,
                      request.host]
      end

      def test_only_http_1_0_needs_no_host
        assert_nil parse("GET / HTTP/1.0").host
        assert_raises(Head::Malformed) { parse("GET / HTTP/1.1") }
        assert_raises(Head::Malformed) { parse("GET / HTTP/1.1", "Host:") }
      end

      def test_lists_may_come_in_several_lines_but_no_token
        assert_equal "text/html, */*", parse("GET / HTTP/1.1", "Host: x", "Accept: text/html", "Accept: */*").accept
        assert_raises(Head::Malformed) { parse("GET / HTTP/1.1", "Host: x", "Host: y") }
        assert_raises(Head::Malformed) { parse("GET / HTTP/1.1", "Host: x", "Authorization: a", "Authorization: b") }
      end

      def test_what_is_unusual_is_refused
        ["", "GET /", "GET  / HTTP/1.1", "get / HTTP/1.1", "GET / HTTP/2.0", "GET http://x/ HTTP/1.1",
         "GET * HTTP/1.1", "GET /a b HTTP/1.1", "GET /\x00 HTTP/1.1", "GET /\xFF HTTP/1.1", "GET / HTTP/1.1 ",
         " GET / HTTP/1.1"].each do |line|
          assert_raises(Head::Malformed, line.inspect) { parse(line, "Host: x") }
        end
        ["Host : x", " Host: x", "Host", ": x", "X: a\x00b", "X: a\nb", "X: a\rb", ""].each do |line|
          assert_raises(Head::Malformed, line.inspect) { parse("GET / HTTP/1.1", "Host: x", line) }
        end
      end

      # Whatever comes, there is a Request or one kind of error, and what there is has no line end in it.
      def test_mutations
        random = Random.new(20_261_121)
        whole = "GET /each?top=3 HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAuthorization: Bearer x\r\n\r\n".b
        5000.times do
          bytes = mutate(whole, random)
          request = Head.parse(bytes)
          refute_match(/[\r\n\0]/n, [request.verb, request.path, request.accept, request.host].join.b, bytes.inspect)
        rescue Head::Malformed
          next
        end
      end

      private

      def parse(*lines)
        Head.parse("#{lines.join("\r\n")}\r\n\r\n".b)
      end

      def mutate(whole, random)
        bytes = whole.dup
        random.rand(1..4).times do
          at = random.rand(bytes.bytesize)
          case random.rand(4)
          when 0 then bytes.setbyte(at, random.rand(256))
          when 1 then bytes.insert(at, random.bytes(random.rand(1..3)))
          when 2 then bytes[at, random.rand(1..20)] = ""
          else bytes.insert(at, ["\r\n", "\n", "\r", "\0", ":", " ", "%", "Host: y\r\n"].sample(random: random))
          end
        end
        bytes
      end
    end
  end
end
