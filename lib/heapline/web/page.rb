# frozen_string_literal: true

require "digest"
require_relative "../format/inert"

module Heapline
  module Web
    # A small page without scripts. Texts from outside are made inert and escaped here and nowhere else: `document` and
    # `link` take them as they are, `table` takes what `link` and `escape` made.
    module Page
      TYPE = "text/html; charset=utf-8"
      STYLE = <<~CSS
        :root{color-scheme:light dark}
        body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem}
        h1{font-size:1.2rem;overflow-wrap:anywhere}
        div{overflow-x:auto}
        table{border-collapse:collapse;width:100%}
        th,td{text-align:right;padding:.2rem .6rem;white-space:nowrap;font-variant-numeric:tabular-nums}
        th:last-child,td:last-child{text-align:left;width:100%;white-space:normal;overflow-wrap:anywhere}
        tbody tr:nth-child(odd){background:rgba(128,128,128,.12)}
        [aria-sort] a::after{content:" ▼"}
        nav a{margin-right:1rem}
      CSS
      POLICY = "default-src 'none'; style-src 'sha256-#{Digest::SHA256.base64digest(STYLE)}'; base-uri 'none'; " \
               "form-action 'none'; frame-ancestors 'none'".freeze
      ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }.freeze

      class << self
        # content: HTML.
        def document(title, content)
          "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" " \
            "content=\"width=device-width\"><title>#{escape(title)} - heapline</title><style>#{STYLE}</style></head>" \
            "<body><h1>#{escape(title)}</h1>#{content}</body></html>\n"
        end

        # titles, lines: cells that are HTML; sorted: index of the column that orders the lines.
        def table(titles, lines, sorted = nil)
          heads = titles.each_with_index.map do |title, index|
            "<th scope=\"col\"#{" aria-sort=\"descending\"" if index == sorted}>#{title}</th>"
          end
          rows = lines.map { |cells| "<tr>#{cells.map { |cell| "<td>#{cell}</td>" }.join}</tr>\n" }
          "<div><table><thead><tr>#{heads.join}</tr></thead>\n<tbody>#{rows.join}</tbody></table></div>"
        end

        def link(address, text)
          "<a href=\"#{escape(address)}\">#{escape(text)}</a>"
        end

        # A link to what is counted at a location ("app.rb:12"); base: what the path begins with.
        def location(name, base)
          place = name.to_s.b.gsub(%r{[^\w./:+~-]}n) { |byte| format("%%%02X", byte.ord) }
          link("#{base}/at/#{place}", name)
        end

        def escape(text)
          Format::Inert.text(text).gsub(/[&<>"']/, ESCAPES)
        end
      end
    end
  end
end
