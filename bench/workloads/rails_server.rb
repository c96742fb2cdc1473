# frozen_string_literal: true

require_relative "rails_application"
require "action_view/testing/resolvers"
require "puma"
require "puma/server"
require_relative "served"

# A controller, a layout, a view of thirty rows, a partial for each. After the start, which is when controllers get the
# routes' helpers.
class PostsController < ActionController::Base
  PAGES = {
    "layouts/blog.html.erb" => "<html><head><title><%= yield :title %></title></head><body><%= yield %></body></html>",
    "posts/index.html.erb" => "<% content_for :title, \"Posts\" %><h1>Posts of shop <%= params[:shop] %></h1>" \
                              "<%= render partial: \"post\", collection: @posts %>",
    "posts/_post.html.erb" => "<div class=\"<%= cycle(\"odd\", \"even\") %>\"><%= link_to post[:title], " \
                              "root_path(post: post[:id]) %> <%= number_to_currency(post[:price]) %> " \
                              "<%= truncate(post[:body], length: 40) %></div>\n"
  }.freeze

  prepend_view_path ActionView::FixtureResolver.new(PAGES)
  layout "blog"

  def index
    @posts = Array.new(30) do |i|
      { id: i, title: "post #{i} & more", price: i * 1.19, body: "what post #{i} says, " * 5 }
    end
  end
end

threads = Integer(ARGV.fetch(0))
Workload.run(full: 3_200, quick: threads * 2) do |requests|
  Served.measure(Rails.application, threads: threads, requests: requests)
end
