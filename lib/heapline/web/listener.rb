# frozen_string_literal: true

require "socket"
require_relative "../errors"

module Heapline
  module Web
    # Where `heapline serve` is reached: a TCP port of the loopback interface, or a Unix socket of this user alone.
    module Listener
      ADDRESS = "127.0.0.1"

      # port 0: any that is free. Raises Error.
      def self.tcp(port)
        TCPServer.new(ADDRESS, port)
      rescue SystemCallError => e
        raise Error, "cannot listen on #{ADDRESS}:#{port}: #{e.message}; choose another with --port"
      end

      # A socket with mode 0600 from its first moment. One that nobody listens on any more is replaced. Raises Error.
      def self.unix(path)
        remove_stale(path)
        former = File.umask(0o177)
        UNIXServer.new(path)
      rescue SystemCallError, ArgumentError => e
        raise Error, "cannot listen on #{path}: #{e.message}"
      ensure
        File.umask(former) if former
      end

      # Nothing of it stays.
      def self.remove(path)
        File.unlink(path)
      rescue SystemCallError
        nil
      end

      def self.remove_stale(path)
        return unless File.lstat(path).socket?

        UNIXSocket.new(path).close
      rescue Errno::ENOENT
        nil
      rescue Errno::ECONNREFUSED
        File.unlink(path)
      end
      private_class_method :remove_stale
    end
  end
end
