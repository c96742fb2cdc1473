# frozen_string_literal: true

# A small web of pages whose templates are compiled for ever. Start it, and ask it from another terminal:
#
#   heapline --quiet ruby examples/template_leak.rb          # with `fixed` behind it: the same without the leak
#   heapline code PID --after 5
#
# It serves requests until it is ended, and says each hundred. A template becomes a method of a module of its own, and
# the module is kept, so that a page is compiled once. But the key under which it is kept has the title in it, which is
# another one with each request.
require "erb"

# Compiles templates, and keeps what it has compiled.
class Pages
  TEMPLATE = <<~HTML
    <h1><%= title %></h1>
    <% lines.each do |line| %>
      <p><%= line %></p>
    <% end %>
  HTML

  def initialize(fixed:)
    @fixed = fixed
    @compiled = {}
  end

  def render(name, title, lines)
    key = @fixed ? name : [name, title]
    page = @compiled[key] ||= compile(name)
    page.render(title, lines)
  end

  private

  def compile(name)
    page = Module.new
    code = "def self.render(title, lines) #{ERB.new(TEMPLATE).src}\nend"
    page.module_eval(code, "pages/#{name}.erb", 0)
    page
  end
end

pages = Pages.new(fixed: ARGV.first == "fixed")
(1..).each do |request|
  pages.render("order", "Order #{request}", %w[tea coffee])
  pages.render("receipt", "Receipt #{request / 50}", %w[paid])
  puts "#{request} requests" if (request % 100).zero?
  $stdout.flush
  sleep 0.002
end
