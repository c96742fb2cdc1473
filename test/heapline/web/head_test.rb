# frozen_string_literal: true

require "test_helper"
require "heapline/web/head"

module Heapline
  module Web
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
