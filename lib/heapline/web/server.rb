# frozen_string_literal: true

require "socket"
require_relative "../errors"
require_relative "../clock"
require_relative "connection"
require_relative "response"

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

    # A small HTTP/1.1 server for this machine: GET and HEAD, one request a connection, a bounded number of connections
    # at a time. What it serves is asked seldom and by few; anything larger belongs behind a proxy.
    class Server
      include Clock

      CONNECTIONS = 32
      # Seconds that answers under way get when the server ends.
      GRACE = 5
      # Seconds for which no new connection is taken after the system had no room for one.
      PAUSE = 0.1
      # Names of this machine: a page from elsewhere whose name was made to lead here says its own name (DNS rebinding).
      LOCAL = /\A(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?\z/i

      # listener: TCPServer or UNIXServer; application: anything with call(Request) → Response or Later; patience: as
      # for Connection.
      def initialize(listener, application, patience: Connection::PATIENCE)
        @listener = listener
        @application = application
        @patience = patience
        @stop, @stopper = IO.pipe
        @threads = []
      end

      # Serve until `stop`.
      def run
        accept until IO.select([@listener, @stop]).first.include?(@stop)
      ensure
        @listener.close
        finish(now + GRACE)
      end

      # End `run`. May be called from a signal handler, more than once.
      def stop
        @stopper.write_nonblock(".", exception: false)
      end

      private

      def accept
        socket = @listener.accept_nonblock(exception: false)
        return if socket == :wait_readable

        take(socket)
      rescue Errno::ECONNABORTED, Errno::EPROTO
        nil
      rescue Errno::EMFILE, Errno::ENFILE, Errno::ENOBUFS, Errno::ENOMEM
        @stop.wait_readable(PAUSE)
      end

      def take(socket)
        @threads.select!(&:alive?)
        connection = Connection.new(socket, stop: @stop, patience: @patience)
        return connection.refuse(full) if @threads.size >= CONNECTIONS

        @threads << Thread.new { connection.serve { |request| answer(request) } }
      end

      def answer(request)
        return @application.call(request) if @listener.is_a?(UNIXServer) || LOCAL.match?(request.host.to_s)

        Response.problem(403, "the header Host must be localhost or 127.0.0.1")
      end

      def finish(limit)
        @threads.each { |thread| thread.join([limit - now, 0].max) }
      end

      def full
        Response.problem(503, "#{CONNECTIONS} connections are open already: ask again later", retry_after: "1")
      end
    end
  end
end
