# frozen_string_literal: true

require_relative "support"
require "bundler/setup"
require "json"
require "erb"
require "kramdown"
require "liquid"
require "rouge"

# What a web application's time goes to: JSON, ERB, Markdown, templates and highlighting, mixed.
module Documents
  # Compiled once, as applications do: an eval for each page would be what is measured, above all with YJIT.
  ERB.new("<ul><% rows.each do |row| %><li class=\"<%= row[:kind] %>\"><%= row[:name] %></li><% end %></ul>")
     .def_method(singleton_class, "page(rows)")
  LETTER = Liquid::Template.parse(<<~LIQUID)
    {% for row in rows %}{% if row.total > 10 %}{{ row.name | upcase | escape }}: {{ row.total | times: 2 }}
    {% endif %}{% endfor %}
  LIQUID
  MARKDOWN = File.read(File.join(__dir__, "documents.md"))
  SOURCE = File.read(__FILE__)

  def self.rows
    Array.new(40) { |i| { name: "row <#{i}>", kind: i.even? ? "even" : "odd", total: i, tags: ["a#{i}", "b#{i % 7}"] } }
  end

  def self.json(rows)
    JSON.generate(JSON.parse(JSON.generate(rows), symbolize_names: true))
  end

  def self.letter(rows)
    LETTER.render("rows" => rows.map { |row| row.transform_keys(&:to_s) })
  end

  def self.markdown
    Kramdown::Document.new(MARKDOWN).to_html
  end

  def self.highlight
    Rouge::Formatters::HTML.new.format(Rouge::Lexers::Ruby.new.lex(SOURCE))
  end

  def self.all
    [json(rows), page(rows), letter(rows), markdown, highlight]
  end
end

Workload.run(full: Integer(ARGV.fetch(0, 150)), quick: 2) do |rounds|
  outputs = Array.new(rounds) { Documents.all.join("\n") }
  Workload.check(outputs.uniq.size == 1, "the same documents came out differently")
  Workload.check(outputs.first.include?("<h1 id=\"a-report\">"), "no Markdown heading in the output")
  Workload.check(outputs.first.include?("ROW &lt;39&gt;: 78"), "no rendered template in the output")
  outputs.first
end
