# frozen_string_literal: true

require "heapline"
require "heapline/accounting/tag"

module Heapline
  # Rack middleware: a request owns what it allocates.
  #
  #   require "heapline/rack"
  #   use Heapline::Rack                                            # "GET /orders/:id"
  #   use(Heapline::Rack) { |env| env["my.route"] }                 # your own tag; nil for none
  #
  # `heapline report PID --by tag` then shows live bytes and growth by request. Without the preload it only calls on.
  # A body that is generated after `call` has returned (streaming) is outside. At most `limit` different tags, all
  # further ones are "(other)".
  class Rack
    autoload :Endpoint, "heapline/web/endpoint"
    autoload :Mount, "heapline/web/endpoint"

    METHODS = %w[GET HEAD POST PUT PATCH DELETE OPTIONS].freeze
    DEPTH = 6
    # Segments that name one thing among many: numbers, UUIDs, digests, tokens.
    IDENTIFIER = /\A(?:\d[\d.,:-]*|\h{8}-\h{4}-\h{4}-\h{4}-\h{12}|(?=\D*\d)\h{8,}|.{40,})\z/n

    # app: the next Rack application; limit: different tags; block: env (Hash) → tag (String) or nil.
    def initialize(app, limit: Labels::LIMIT, &label)
      @app = app
      @label = label || self.class.method(:template)
      @labels = Labels.new(limit)
    end

    # env → the application's response, unchanged.
    def call(env)
      return @app.call(env) unless Heapline.enabled?

      Heapline.tag(@labels.admit(@label.call(env))) { @app.call(env) }
    end

    # "GET /orders/:id/lines" for GET /orders/4711/lines?page=2.
    def self.template(env)
      verb = env["REQUEST_METHOD"].to_s
      segments = "#{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}".b.split("/").reject(&:empty?)
      named = segments.first(DEPTH).map { |segment| segment.match?(IDENTIFIER) ? ":id" : segment }
      named << "…".b if segments.size > DEPTH
      "#{METHODS.include?(verb) ? verb : "OTHER"} /#{named.join("/")}"
    end
  end
end
