# frozen_string_literal: true

require "io/wait"
require_relative "../frozen"

module Heapline
  module Web
    # A complete answer: status, headers and body (String). A frozen plain value.
    Response = Struct.new(:status, :headers, :body, keyword_init: true) do
      include Frozen

      # As Rack wants it; a HEAD request gets the headers alone.
      def to_rack(head: false)
        [status, headers.dup, head ? [] : [body]]
      end

      # As HTTP/1.1 sends it, on a connection that ends with it (binary String).
      def to_http(head: false)
        lines = headers.map { |name, value| "#{name}: #{value}\r\n" }
        "HTTP/1.1 #{status} #{Response::REASONS.fetch(status)}\r\n#{lines.join}connection: close\r\n\r\n".b +
          (head ? "" : body.b)
      end
    end

    # How answers are made.
    class Response
      REASONS = { 200 => "OK", 400 => "Bad Request", 401 => "Unauthorized", 403 => "Forbidden", 404 => "Not Found",
                  405 => "Method Not Allowed", 406 => "Not Acceptable", 408 => "Request Timeout",
                  431 => "Request Header Fields Too Large", 500 => "Internal Server Error",
                  503 => "Service Unavailable" }.freeze
      TEXT = "text/plain; charset=utf-8"
      # Nothing is kept, guessed, framed, embedded or fetched, and no address is told to other sites.
      SAFE = { "cache-control" => "no-store", "x-content-type-options" => "nosniff", "referrer-policy" => "no-referrer",
               "cross-origin-resource-policy" => "same-origin", "cross-origin-opener-policy" => "same-origin",
               "x-frame-options" => "DENY" }.freeze
      NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

      # type: the content type; policy: the content security policy; more: further headers.
      def self.of(body, type:, status: 200, policy: NOTHING, **more)
        new(status: status, body: body, headers: SAFE.merge(
          "content-type" => type, "content-length" => body.bytesize.to_s, "content-security-policy" => policy,
          **more.transform_keys { |name| name.to_s.tr("_", "-") }
        ))
      end

      # Seconds without any progress after which a client is given up.
      PATIENCE = 30

      # Write all of `bytes` to a client that may be slow or gone. False where it takes no more. Raises what a broken
      # connection raises.
      def self.write(io, bytes)
        return io.write(bytes) && true unless io.is_a?(IO)

        until bytes.empty?
          written = io.write_nonblock(bytes, exception: false)
          if written == :wait_writable
            return false unless io.wait_writable(PATIENCE)
          else
            bytes = bytes.byteslice(written..)
          end
        end
        true
      end

      # A line of text that says what is wrong.
      def self.problem(status, message, **more)
        of("heapline: #{message}\n", type: TEXT, status: status, **more)
      end
    end

    # An answer that needs time to pass. Whoever gets it waits and then takes the Response; so waiting is the server's
    # business, which knows how to do it without keeping others from their answers.
    class Later
      attr_reader :seconds

      # seconds: how long to wait; the block makes the Response after that; leave: is called once it is over.
      def initialize(seconds, leave: nil, &finish)
        @seconds = seconds
        @finish = finish
        @leave = leave
      end

      # A copy that calls the block when it is over, whatever becomes of it.
      def leaving(&leave)
        Later.new(seconds, leave: leave, &@finish)
      end

      # The Response, if the block, which does the waiting, returns true; else nil.
      def take
        @finish.call if yield(seconds)
      ensure
        @leave&.call
      end
    end
  end
end
