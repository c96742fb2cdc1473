# frozen_string_literal: true

require "socket"
require_relative "../clock"
require_relative "connection"
require_relative "response"

module Heapline
  module Web
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
