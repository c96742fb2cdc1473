# frozen_string_literal: true

require_relative "../errors"

module Heapline
  module Web
    # What a request asks for is not there. Status 404.
    class Missing < Error; end

    # There is no room for it now. Status 503.
    class Busy < Error; end

    # What an answer depends on, whoever read it from the wire. A frozen plain value.
    #
    # verb::          "GET"
    # path::          below the mount point, as it was sent: "/each", "/at/app.rb:12"; any bytes
    # params::        the query as a Hash of Strings; of a name that comes twice the last counts
    # base::          the mount point, "" or "/heapline": what links begin with
    # accept::        the header of that name, or ""
    # authorization:: the header of that name, or nil
    # host::          the header of that name, or nil
    Request = Struct.new(:verb, :path, :params, :base, :accept, :authorization, :host, keyword_init: true) do
      def initialize(path:, query: "", **fields)
        super(path: path.b, base: "", accept: "", params: self.class.params(query.b), **fields)
        freeze
      end

      # The request that a Rack server describes.
      def self.of_rack(env)
        new(verb: env["REQUEST_METHOD"].to_s, path: env["PATH_INFO"].to_s, query: env["QUERY_STRING"].to_s,
            base: env["SCRIPT_NAME"].to_s, accept: env["HTTP_ACCEPT"].to_s, authorization: env["HTTP_AUTHORIZATION"],
            host: env["HTTP_HOST"])
      end

      # "a=1&b=x%20y" as a Hash.
      def self.params(query)
        query.split("&").to_h do |pair|
          name, value = pair.split("=", 2)
          [decode(name.to_s.tr("+", " ")), decode(value.to_s.tr("+", " "))]
        end
      end

      # %41 as A; what is no such code stays.
      def self.decode(text)
        text.b.gsub(/%\h\h/n) { |code| code[1..].hex.chr }.force_encoding(Encoding::UTF_8)
      end

      def head?
        verb == "HEAD"
      end

      def reading?
        verb == "GET" || head?
      end
    end
  end
end
