# frozen_string_literal: true

require_relative "../errors"
require_relative "request"
require_relative "../clock"
require_relative "response"

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

    # One request on one connection, which ends with its answer.
    class Connection
      include Clock

      # Seconds in which the whole head of a request must have come, however it trickles in.
      PATIENCE = 10
      # After the answer so many bytes are still taken, for so many seconds, so that a client that sends a body gets to
      # read the answer.
      DRAINED = 1024 * 1024
      DRAINING = 2
      CHUNK = 16 * 1024

      class Overlong < Error; end
      class Slow < Error; end

      # stop: an IO that becomes readable when the server ends; patience: seconds, as above.
      def initialize(socket, stop:, patience: PATIENCE)
        @socket = socket
        @stop = stop
        @patience = patience
      end

      # Let the block make an answer (Response or Later) of the Request, and send it.
      def serve(&)
        bytes = answer(&)
        drain if bytes && Response.write(@socket, bytes)
      rescue SystemCallError, IOError
        nil # the client has gone
      ensure
        @socket.close
      end

      # Send a Response, whatever was asked.
      def refuse(response)
        @socket.write_nonblock(response.to_http, exception: false)
      rescue SystemCallError, IOError
        nil
      ensure
        @socket.close
      end

      private

      # The bytes of the answer; nil where nobody is there to get it.
      def answer
        head = read_head or return nil

        request = Head.parse(head)
        response = yield(request)
        response = response.take { |seconds| wait(seconds) } if response.is_a?(Later)
        response&.to_http(head: request.head?)
      rescue Head::Malformed => e
        Response.problem(400, e.message).to_http
      rescue Overlong
        Response.problem(431, "the head of the request has more than #{Head::LIMIT} bytes").to_http
      rescue Slow
        Response.problem(408, "the request did not come within #{@patience} seconds").to_http
      end

      # Up to the empty line; nil where the client leaves before it.
      def read_head
        bytes = "".b
        limit = now + @patience
        until (final = bytes.index(Head::FINAL))
          raise Overlong if bytes.bytesize > Head::LIMIT

          chunk = read_chunk(limit) or return nil
          bytes << chunk
        end
        raise Overlong if final > Head::LIMIT

        bytes[0, final + Head::FINAL.bytesize]
      end

      # What is there by `limit`; nil where nothing more comes, or the server ends.
      def read_chunk(limit)
        while (chunk = @socket.read_nonblock(CHUNK, exception: false)) == :wait_readable
          ready, = IO.select([@socket, @stop], nil, nil, [limit - now, 0].max)
          raise Slow unless ready
          return nil if ready.include?(@stop)
        end
        chunk
      end

      # True after so many seconds; false once the client has left or the server ends.
      def wait(seconds)
        limit = now + seconds
        while (rest = limit - now).positive?
          ready, = IO.select([@socket, @stop], nil, nil, rest)
          next unless ready
          return false if ready.include?(@stop) || @socket.read_nonblock(CHUNK, exception: false).nil?
        end
        true
      end

      def drain
        @socket.close_write
        limit = now + DRAINING
        taken = 0
        while taken < DRAINED && (chunk = read_chunk(limit))
          taken += chunk.bytesize
        end
      rescue Slow
        nil
      end
    end
  end
end
