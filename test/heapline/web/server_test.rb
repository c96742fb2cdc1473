# frozen_string_literal: true

require "test_helper"
require "socket"
require "heapline/web/request"
require "heapline/web/server"

module Heapline
  module Web
    class ServerTest < Minitest::Test
      def test_serves_until_it_is_stopped
        serving do |port|
          3.times { assert_match(%r{\AHTTP/1\.1 200 .*/x\z}m, get(port)) }
        end
      end

      def test_only_names_of_this_machine
        serving do |port|
          %w[localhost LOCALHOST:80 127.0.0.1:9533 127.1.2.3 [::1]:1].each do |host|
            assert_match(/ 200 /, get(port, host: host), host)
          end
          ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:x", "10.0.0.1", "[::2]",
           "localhost:1:2", "127.0.0.1evil"].each { |host| assert_match(/ 403 /, get(port, host: host), host) }
        end
      end

      def test_a_unix_socket_has_any_name
        in_directory do |directory|
          path = File.join(directory, "socket")
          running(UNIXServer.new(path)) do
            UNIXSocket.open(path) { |socket| assert_match(/ 200 /, ask(socket, "whatever")) }
          end
        end
      end

      def test_clients_that_say_nothing_keep_nobody_from_an_answer
        serving do |port|
          silent = Array.new(Server::CONNECTIONS - 1) { TCPSocket.new("127.0.0.1", port) }
          assert_match(/ 200 /, get(port))
          silent.each(&:close)
        end
      end

      def test_the_end_waits_for_no_request_that_has_not_come
        silent = nil
        serving do |port|
          silent = TCPSocket.new("127.0.0.1", port)
          silent.write("GET")
        end
        assert_equal "", silent.read
      rescue Errno::ECONNRESET
        nil # the end came before the connection was taken
      ensure
        silent&.close
      end

      def test_connections_are_bounded
        serving do |port|
          silent = Array.new(Server::CONNECTIONS) { TCPSocket.new("127.0.0.1", port) }
          one_more = TCPSocket.new("127.0.0.1", port)
          assert_match(/ 503 /, one_more.read)
          [one_more, *silent].each(&:close)
          assert(await(timeout: 60) { get(port).include?(" 200 ") })
        end
      end

      private

      def serving(&)
        listener = TCPServer.new("127.0.0.1", 0)
        port = listener.addr[1]
        running(listener) { yield port }
      end

      def running(listener)
        application = ->(request) { Response.of(request.path, type: "text/plain") }
        server = Server.new(listener, application, patience: 600)
        thread = Thread.new { server.run }
        yield
      ensure
        2.times { server.stop }
        assert thread.join(60), "the server did not end"
        assert_predicate listener, :closed?
      end

      def get(port, host: "localhost")
        TCPSocket.open("127.0.0.1", port) { |socket| ask(socket, host) }
      end

      # A refused connection may be closed before the request has been written.
      def ask(socket, host)
        socket.write("GET /x HTTP/1.1\r\nHost: #{host}\r\n\r\n")
        socket.read
      rescue Errno::ECONNRESET, Errno::EPIPE
        ""
      end
    end
  end
end
