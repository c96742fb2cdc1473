# frozen_string_literal: true

require_relative "../files/input"
require_relative "application"
require_relative "server"
require_relative "../command/base"
require_relative "../figures/typed"

module Heapline
  module Web
    # `heapline serve`: the figures of all processes of this user over HTTP, on loopback or a Unix socket, outside the
    # applications.
    class ServeCommand < Command::Base
      USAGE_LINE = "serve [options]"
      SUMMARY = "Show all processes over HTTP on this machine: pages, JSON, Prometheus, pprof"
      PORT = 9533
      SIGNALS = %w[INT TERM HUP].freeze
      VARIABLE = "HEAPLINE_TOKEN"
      TOKEN_MOST = 1 << 20 # bytes of a token's file

      def call(argv)
        extra = parse(argv)
        raise UsageError, "serve takes no arguments: #{extra.join(" ")}" unless extra.empty?
        raise UsageError, "either --port or --unix, not both" if @options[:port] && @options[:unix]

        @options[:unix] ? serve_unix(@options[:unix]) : serve_tcp(@options.fetch(:port, PORT))
        Command::OK
      end

      private

      def define(parser)
        parser.on("--port N", "TCP port on 127.0.0.1 (#{PORT}; 0: any that is free)") do |value|
          @options[:port] = port(value)
        end
        parser.on("--unix PATH", "a Unix socket instead, which only this user can open") do |value|
          @options[:unix] = File.expand_path(value)
        end
        parser.on("--token-file FILE", "the token is FILE's first line; else #{VARIABLE}, else a new one") do |value|
          @options[:token] = token_of(value)
        end
        parser.on("--open", "no token: every user of this machine may look") { @options[:open] = true }
      end

      def port(value)
        number = Figures::Typed.count(value)
        number <= 65_535 ? number : raise(UsageError, "not a port: #{value}")
      end

      def token_of(file)
        Input.text(file, most: TOKEN_MOST).lines.first.to_s.strip
      rescue InputError => e
        raise UsageError, "the token: #{e.message}"
      end

      # The token that was given, or nil. The command line is no place for it: other users see that.
      def token
        @options[:token] || @env[VARIABLE]
      end

      def serve_tcp(number)
        open = @options[:open]
        secret = token || new_token unless open
        listener = Web::Listener.tcp(number)
        port = listener.addr[1]
        run(listener, Web::Access.new(token: secret, open: open), "http://127.0.0.1:#{port}/", secret)
      end

      # The socket's mode is access control enough; a token that was given counts all the same.
      def serve_unix(path)
        access = Web::Access.new(token: token, open: token.nil?)
        listener = Web::Listener.unix(path)
        run(listener, access, "the Unix socket #{path}")
      ensure
        Web::Listener.remove(path) if listener
      end

      def new_token
        require "securerandom"
        @made = SecureRandom.hex(16)
      end

      def run(listener, access, place, secret = nil)
        server = Web::Server.new(listener, application(access))
        trapping(server) do
          @out.puts "heapline serves #{place}#{"; the token is #{secret}" if @made}"
          @out.flush
          Accounting::Flight.together { server.run }
        end
      end

      def application(access)
        router = Web::Router.new(Web::Processes.new(directory: Accounting::FlightDirectory.new(@env)))
        Web::Application.new(access) { |request| router.call(request) }
      end

      def trapping(server)
        former = SIGNALS.to_h { |name| [name, Signal.trap(name) { server.stop }] }
        yield
      ensure
        former&.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
      end
    end
  end
end
