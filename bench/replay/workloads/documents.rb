# frozen_string_literal: true

require "erb"
require "json"

# Documents are parsed, rendered and thrown away, and every twentieth is kept: one thread.
rows = ->(count) { Array.new(count) { |i| { "name" => "row #{i}", "total" => i * 1.5, "tags" => ["a#{i}", "b"] } } }
page = ERB.new("<ul><% rows.each do |row| %><li><%= row[\"name\"] %>: <%= row[\"total\"] %></li><% end %></ul>")
random = Random.new(2)
kept = []
1200.times do |i|
  parsed = JSON.parse(JSON.generate(rows.call(20 + random.rand(400))))
  html = page.result_with_hash(rows: parsed)
  kept << [parsed, html] if (i % 20).zero?
end
sleep 0.2
