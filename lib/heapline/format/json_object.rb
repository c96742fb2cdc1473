# frozen_string_literal: true

require "json"
require_relative "inert"

module Heapline
  module Format
    # What the formats that write one JSON object have in common.
    module JsonObject
      private

      # Write `data` (Hash) and a line end to `io`. Output is ASCII, so that it acts on no terminal.
      def write(data, io)
        io.write("#{JSON.pretty_generate(data, ascii_only: true)}\n")
      end

      # A name as valid UTF-8; nil stays nil.
      def text(value)
        value && Inert.valid(value)
      end

      # A Time in ISO 8601, UTC, with microseconds; nil stays nil.
      def time(value)
        value&.getutc&.strftime("%Y-%m-%dT%H:%M:%S.%6NZ")
      end
    end
  end
end
