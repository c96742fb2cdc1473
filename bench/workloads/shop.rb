# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "json"
require "erb"
require "rack"

# A Rack application that answers with a rendered page and some JSON in it.
class Shop
  ERB.new(<<~HTML).def_method(self, "page(rows, json)")
    <html><body><h1>All articles</h1><table>
    <% rows.each do |row| %><tr><td><%= row[:name] %></td><td><%= format("%.2f", row[:price]) %></td></tr>
    <% end %></table><script type="application/json"><%= json %></script></body></html>
  HTML

  def call(env)
    shop = Rack::Request.new(env).params["shop"]
    rows = Array.new(30) { |i| { name: "article #{i} of shop #{shop}", price: i * 1.19 } }
    body = page(rows, JSON.generate(rows))
    [200, { "content-type" => "text/html", "content-length" => body.bytesize.to_s }, [body]]
  end
end
