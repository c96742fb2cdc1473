# frozen_string_literal: true

module Heapline
  module Web
    # A complete answer: status, headers and body (String). A frozen plain value.
    Response = Struct.new(:status, :headers, :body, keyword_init: true) do
      def initialize(**fields)
        super
        freeze
      end

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

      # A line of text that says what is wrong.
      def self.problem(status, message, **more)
        of("heapline: #{message}\n", type: TEXT, status: status, **more)
      end
    end
  end
end
