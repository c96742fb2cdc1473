# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "liquid"

# A shop's page: loops in loops, filters and conditions, from one template that was parsed once.
PAGE = Liquid::Template.parse(<<~LIQUID)
  {% assign sorted = articles | sort: "price" %}<h1>{{ shop.name | escape }}</h1>
  {% for article in sorted %}
  {% cycle "odd", "even" %} {{ forloop.index }}. {{ article.title | capitalize | truncate: 20 }}
  {% if article.price > 50 %}{{ article.price | times: 0.9 | round: 2 }}
  {% elsif article.tags contains "new" %}new{% else %}{{ article.price }}{% endif %}
  {% for tag in article.tags %}{{ tag | upcase | append: ";" }}{% endfor %}{% endfor %}
  {{ articles | map: "title" | join: ", " | split: "e" | size }}
LIQUID

Workload.run(full: 500, quick: 3) do |rounds|
  articles = Array.new(60) do |i|
    { "title" => "article number #{i} of the shop", "price" => (i * 37) % 101,
      "tags" => ["a#{i % 5}", "b", i.odd? ? "new" : "old"] }
  end
  pages = Array.new(rounds) { PAGE.render!("shop" => { "name" => "R&D" }, "articles" => articles) }
  Workload.check(pages.uniq.size == 1 && pages.first.include?("<h1>R&amp;D</h1>"), "the page is wrong")
  pages.first
end
