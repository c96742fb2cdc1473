# frozen_string_literal: true

require_relative "../errors"
require_relative "request"

module Heapline
  module Web
    # From the head of an HTTP/1.x request, line ends included, to a Request. Strict: what is unusual is refused, since
    # a server and a proxy that read one request in two ways are how it becomes another.
    module Head
      # Bytes of a head.
      LIMIT = 16 * 1024
      FINAL = "\r\n\r\n"
      LINE = %r{\A([A-Z]{1,20}) (/[\x21-\x7e]*) HTTP/1\.([01])\z}n
      # Name and value; the value has no control character but tabs.
      FIELD = /\A([!$%&'*+.^_`|~0-9A-Za-z#-]+):([\t\x20-\x7e\x80-\xff]*)\z/n
      # Headers that may come once.
      SINGLE = %w[host authorization].freeze

      # What is wrong with a request. Status 400.
      class Malformed < Error; end

      # Raises Malformed.
      def self.parse(bytes)
        first, *lines = bytes.b.delete_suffix(FINAL).split("\r\n", -1)
        verb, target, minor = LINE.match(first.to_s)&.captures
        raise Malformed, "the first line is no HTTP/1.1 request" unless verb

        fields = fields(lines)
        raise Malformed, "the header Host is missing" if minor == "1" && fields["host"].to_s.empty?

        path, query = target.split("?", 2)
        Request.new(verb: verb, path: path, query: query.to_s, accept: fields.fetch("accept", ""),
                    authorization: fields["authorization"], host: fields["host"])
      end

      # Hash of name in lower case => value.
      def self.fields(lines)
        lines.each_with_object({}) do |line, found|
          name, value = FIELD.match(line)&.captures
          raise Malformed, "a header line is malformed" unless name

          name = name.downcase
          raise Malformed, "the header #{name} comes twice" if found.key?(name) && SINGLE.include?(name)

          found[name] = [found[name], value.strip].compact.join(", ")
        end
      end
      private_class_method :fields
    end
  end
end
