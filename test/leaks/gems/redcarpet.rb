# frozen_string_literal: true

require "redcarpet"

50.times do
  markdown = Redcarpet::Markdown.new(Redcarpet::Render::HTML.new(with_toc_data: true), tables: true, footnotes: true)
  markdown.render("# A title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nsome *text* with [a link](http://example.org)\n")
end
