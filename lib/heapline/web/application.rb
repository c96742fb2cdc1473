# frozen_string_literal: true

require "digest"
require_relative "../errors"
require_relative "processes"
require_relative "request"
require_relative "response"
require_relative "router"

module Heapline
  module Web
    # Who may look. The token comes in the header Authorization, as `Bearer TOKEN` or as the password of `Basic` (any
    # name), which browsers ask for and `http://x:TOKEN@host/` sends. It is never taken from the query: queries end up
    # in logs.
    class Access
      LEAST = 16
      CHALLENGE = 'Basic realm="heapline", charset="UTF-8", Bearer realm="heapline"'

      # token: at least LEAST bytes; open: true lets everyone in instead. Raises UsageError without either.
      def initialize(token: nil, open: false)
        raise UsageError, "either a token or open, not both" if open && token
        raise UsageError, problem(token) unless open || token.to_s.bytesize >= LEAST

        @digest = Digest::SHA256.digest(token) unless open
        freeze
      end

      # authorization: the header's value, or nil.
      def allows?(authorization)
        @digest.nil? || same?(Digest::SHA256.digest(given(authorization.to_s)))
      end

      # Nothing of the token may show.
      def inspect
        "#<#{self.class.name} #{@digest ? "token" : "open"}>"
      end

      private

      def given(authorization)
        scheme, credentials = authorization.b.split(" ", 2)
        case scheme.to_s.downcase
        when "bearer" then credentials.to_s.strip
        when "basic" then credentials.to_s.unpack1("m").split(":", 2).last.to_s
        else ""
        end
      end

      # Takes the same time wherever they differ.
      def same?(digest)
        digest.bytes.zip(@digest.bytes).sum { |one, other| one ^ other }.zero?
      end

      def problem(token)
        what = token.to_s.empty? ? "no token" : "a token of fewer than #{LEAST} bytes"
        "#{what}: give a secret one (`openssl rand -hex 16` makes one; the environment variable HEAPLINE_TOKEN is a " \
          "place for it), or say that everyone may look (open)"
      end
    end

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
        Response.problem(400, Inert.text(e.message))
      rescue Missing, FlightError => e
        Response.problem(404, Inert.text(e.message))
      rescue Busy, NotEnabled => e
        Response.problem(503, Inert.text(e.message), retry_after: "10")
      rescue StandardError => e
        Response.problem(500, "#{e.class}: #{Inert.text(e.message)}")
      end

      private

      def refuse_verb
        Response.problem(405, "only GET and HEAD are allowed", allow: "GET, HEAD")
      end

      def refuse_stranger
        Response.problem(401, "the token is missing or wrong: send it in the header Authorization, as Bearer, or as " \
                              "the password of Basic", www_authenticate: Access::CHALLENGE)
      end
    end
  end
end
