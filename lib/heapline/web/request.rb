# frozen_string_literal: true

require_relative "../errors"
require_relative "../figures/typed"
require_relative "../figures/site_figures"
require_relative "../terminal/inert"

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

    # What a query may say about the rows of an answer: top (rows; 0: all), sort (a key of Figures::SiteFigures), min
    # (bytes), by (gem, file, library, tag). Raises UsageError where it says something else.
    class Query
      GROUPS = %w[gem file library tag].freeze

      # params: Hash of Strings
      def initialize(params)
        @params = params
      end

      # Rows; `usual` where nothing is said.
      def top(usual)
        Figures::Typed.named("top") { @params.key?("top") ? Figures::Typed.count(@params["top"]) : usual }
      end

      def min
        Figures::Typed.named("min") { @params.key?("min") ? Figures::Typed.bytes(@params["min"]) : 0 }
      end

      # Column by whose figures is sorted.
      def column
        name = @params.fetch("sort", "growth")
        key = Figures::SiteFigures::KEYS.find { |known| known.to_s == name }
        key ? Figures::SiteFigures.fetch(key) : refuse("sort", name, Figures::SiteFigures::KEYS)
      end

      # :gem, :file, :library, :tag or nil.
      def by
        name = @params["by"]
        GROUPS.include?(name) || name.nil? ? name&.to_sym : refuse("by", name, GROUPS)
      end

      # A whole number of seconds in `range`.
      def seconds(range)
        text = @params["seconds"].to_s
        return text.to_i if text.match?(/\A\d{1,6}\z/) && range.cover?(text.to_i)

        refuse("seconds", text, ["#{range.first} to #{range.last}"])
      end

      private

      def refuse(name, value, known)
        raise UsageError, "#{name}=#{Inert.text(value)}: it can be #{known.join(", ")}"
      end
    end
  end
end
