# frozen_string_literal: true

require "test_helper"
require "heapline/web/listener"

module Heapline
  module Web
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
