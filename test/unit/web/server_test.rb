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
          assert(await { get(port).include?(" 200 ") })
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
        assert thread.join(PATIENCE), "the server did not end"
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

    class ListenerTest < Minitest::Test
      def test_tcp_is_loopback
        listener = Listener.tcp(0)
        assert_equal "127.0.0.1", listener.addr[3]
        error = assert_raises(Error) { Listener.tcp(listener.addr[1]) }
        assert_match(/--port/, error.message)
      ensure
        listener&.close
      end

      def test_the_unix_socket_is_for_this_user_alone
        with_path do |path|
          mask = File.umask
          listener = Listener.unix(path)
          assert_equal 0o600, File.stat(path).mode & 0o777
          assert_equal mask, File.umask
        ensure
          listener&.close
        end
      end

      def test_a_socket_that_nobody_listens_on_is_replaced
        with_path do |path|
          Listener.unix(path).close
          Listener.unix(path).close
          Listener.remove(path)
          refute_path_exists path
          Listener.remove(path)
        end
      end

      def test_one_that_is_in_use_and_other_files_stay
        with_path do |path|
          listener = Listener.unix(path)
          assert_raises(Error) { Listener.unix(path) }
          other = "#{path}.txt"
          File.write(other, "x")
          assert_raises(Error) { Listener.unix(other) }
          assert_equal "x", File.read(other)
        ensure
          listener&.close
        end
      end

      def test_a_path_that_is_too_long_is_said_to_be
        assert_raises(Error) { Listener.unix("/tmp/#{"x" * 200}") }
      end

      private

      def with_path
        in_directory { |directory| yield File.join(directory, "socket") }
      end
    end
  end
end
