# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "logger"
require "rails"
require "action_controller/railtie"
require "action_view/railtie"

# A Rails application without a database.
class Blog < Rails::Application
  config.load_defaults 7.2
  config.root = __dir__
  config.eager_load = true
  config.enable_reloading = false
  config.consider_all_requests_local = false
  config.secret_key_base = "0" * 64
  config.logger = Logger.new(nil)
  config.hosts.clear
  routes.append { root to: "posts#index" }
end

Blog.initialize!
