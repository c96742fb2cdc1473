# frozen_string_literal: true

require "heapline/rack/endpoint"

module Heapline
  class Rack
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
