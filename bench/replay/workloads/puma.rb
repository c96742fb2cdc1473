# frozen_string_literal: true

require "bundler/setup"
require "erb"
require "json"
require "puma"
require "puma/server"
require "rack"
require_relative "../../workloads/support"
require_relative "../../workloads/served"

# Puma with four threads and a Rack application: pages of very different sizes, of which some are cached. The load comes
# from another process.
class Shop
  PAGE = ERB.new("<html><body><% rows.each do |row| %><p><%= row[:name] %> <%= row[:price] %></p><% end %><%= json %>")

  def initialize
    @random = Random.new(3)
    @cache = {}
    @lock = Mutex.new
  end

  def call(env)
    Rack::Request.new(env).params
    rows = Array.new(size) { |i| { name: "article #{i}", price: i * 1.19, text: "x" * (i % 90) } }
    body = PAGE.result_with_hash(rows: rows, json: JSON.generate(rows))
    @lock.synchronize { keep(body) }
    [200, { "content-type" => "text/html", "content-length" => body.bytesize.to_s }, [body]]
  end

  private

  def size
    @lock.synchronize { @random.rand(40).zero? ? 2000 : 20 + @random.rand(200) }
  end

  def keep(body)
    @cache[@cache.size % 700] = body if @random.rand(3).zero?
  end
end

Served.puma(Shop.new, 4) do |port|
  Served.load(port, 4000, 4)
  sleep 0.2
end
