# frozen_string_literal: true

require "heapline/web/rack"
require "heapline/web/application"
require "heapline/web/response"

module Heapline
  class Rack
    # The figures of this application over HTTP, as a Rack application to mount:
    #
    #   mount Heapline::Rack::Endpoint.new(token: ENV["HEAPLINE_TOKEN"]) => "/heapline"           # Rails' routes
    #   map("/heapline") { run Heapline::Rack::Endpoint.new(token: ENV["HEAPLINE_TOKEN"]) }       # config.ru
    #
    # docs/endpoints.md lists the paths. It shows the processes of this application's tree of forks and no others, and
    # changes nothing. What it allocates is in no figure, and it raises nothing into the application.
    class Endpoint
      # token: what a request must bring, 16 bytes or more; open: true where something else decides who gets here.
      # Raises UsageError without either.
      def initialize(token: nil, open: false)
        access = Web::Access.new(token: token, open: open)
        router = Web::Router.new(Web::Processes.new(own: true))
        @application = Web::Application.new(access) { |request| router.call(request) }
      end

      # env → [status, headers, body]
      def call(env)
        Heapline.quiet do
          request = Web::Request.of_rack(env)
          answer = @application.call(request)
          answer = wait(env, request, answer) if answer.is_a?(Web::Later)
          answer.is_a?(Array) ? answer : answer.to_rack(head: request.head?)
        end
      end

      private

      # A server that hands out its connection gets its thread back at once; in others this request waits in its own.
      def wait(env, request, later)
        return take(later) { |seconds| sleep(seconds) } unless env["rack.hijack?"] && env["rack.hijack"]

        connection = env["rack.hijack"].call
        Thread.new { Heapline.quiet { answer(connection, request, later) } }
        [200, {}, []]
      end

      def take(later, &)
        @application.guard { later.take(&) }
      end

      def answer(connection, request, later)
        response = take(later) { |seconds| stays?(connection, seconds) }
        Web::Response.write(connection, response.to_http(head: request.head?)) if response
      rescue SystemCallError, IOError
        nil # the client has gone
      ensure
        connection.close
      end

      # Is the client still there after so many seconds? One that has gone is readable. Of what is no IO (TLS) that
      # cannot be told.
      def stays?(connection, seconds)
        connection.is_a?(IO) ? !connection.wait_readable(seconds) : sleep(seconds)
      end
    end

    # Rack middleware: the Endpoint at one path, all else to the application. For where there are no routes to mount in:
    #
    #   use Heapline::Rack::Mount, at: "/heapline", token: ENV["HEAPLINE_TOKEN"]
    class Mount
      # at: the path, "/heapline"; the others as for Endpoint. Raises UsageError.
      def initialize(app, at: "/heapline", **access)
        raise UsageError, "mount at a path such as /heapline, not #{at.inspect}" unless at.match?(%r{\A/.*[^/]\z})

        @app = app
        @at = at
        @endpoint = Endpoint.new(**access)
      end

      # env → the endpoint's or the application's response.
      def call(env)
        path = env["PATH_INFO"].to_s
        return @app.call(env) unless path == @at || path.start_with?("#{@at}/")

        @endpoint.call(env.merge("SCRIPT_NAME" => "#{env["SCRIPT_NAME"]}#{@at}",
                                 "PATH_INFO" => path.delete_prefix(@at)))
      end
    end
  end
end
