# frozen_string_literal: true

require_relative "../errors"
require_relative "access"
require_relative "processes"
require_relative "request"
require_relative "response"
require_relative "router"

module Heapline
  module Web
    # What all that is served has in common: who may look, that one can only look, and that each problem becomes an
    # answer.
    class Application
      # access: Access; the block makes a Response or Later of each Request that is let in.
      def initialize(access, &route)
        @access = access
        @route = route
      end

      # Request → Response or Later. Raises nothing that a request could be the cause of.
      def call(request)
        guard do
          next refuse_verb unless request.reading?
          next refuse_stranger unless @access.allows?(request.authorization)

          @route.call(request)
        end
      end

      # The block's value, or the answer that says what went wrong.
      def guard
        yield
      rescue UsageError => e
        Response.problem(400, Format::Inert.text(e.message))
      rescue Missing, FlightError => e
        Response.problem(404, Format::Inert.text(e.message))
      rescue Busy, NotEnabled => e
        Response.problem(503, Format::Inert.text(e.message), retry_after: "10")
      rescue StandardError => e
        Response.problem(500, "#{e.class}: #{Format::Inert.text(e.message)}")
      end

      private

      def refuse_verb
        Response.problem(405, "this only shows: GET and HEAD", allow: "GET, HEAD")
      end

      def refuse_stranger
        Response.problem(401, "the token is missing or wrong: send it in the header Authorization, as Bearer, or as " \
                              "the password of Basic", www_authenticate: Access::CHALLENGE)
      end
    end
  end
end
