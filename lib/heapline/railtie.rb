# frozen_string_literal: true

require "rails/railtie"
require "heapline"

module Heapline
  # For Rails, where it is asked for: `require "heapline/railtie"`, and then in config/application.rb
  #
  #   config.heapline.tag_requests = true                      # a request owns what it allocates (Heapline::Rack)
  #   config.heapline.mount = "/heapline"                      # figures at this path (Heapline::Rack::Mount)
  #   config.heapline.token = ENV["HEAPLINE_TOKEN"]            # or config.heapline.open = true
  #
  # Without these it adds nothing.
  class Railtie < ::Rails::Railtie
    config.heapline = ActiveSupport::OrderedOptions.new

    # Labels are given outside of all other middlewares, figures inside: behind the application's hosts and its TLS.
    initializer "heapline.middleware" do |app|
      options = app.config.heapline
      if options.tag_requests
        require "heapline/web/rack"
        app.middleware.insert_before 0, Heapline::Rack
      end
      if options.mount
        require "heapline/web/endpoint"
        app.middleware.use Heapline::Rack::Mount, at: options.mount, **options.slice(:token, :open)
      end
    end
  end
end
