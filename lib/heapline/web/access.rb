# frozen_string_literal: true

require "digest"
require_relative "../errors"

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
  end
end
