# frozen_string_literal: true

require "nokogiri"

30.times do
  page = Nokogiri::HTML("<html><body>#{"<p class='a'>text <b>more</b></p>" * 20}</body>")
  page.css("p.a b").each { |node| node.content = "changed" }
  page.to_html
  Nokogiri::XML("<a><b c='1'/></a>").xpath("//b[@c=1]").first["c"]
  Nokogiri::XML("<a><b></a>", &:strict)
rescue Nokogiri::XML::SyntaxError
  Nokogiri::XML::SAX::Parser.new(Nokogiri::XML::SAX::Document.new).parse("<a>text</a>")
end
