# frozen_string_literal: true

require "digest"
require_relative "../processes/process_list"
require_relative "../terminal/inert"
require_relative "../figures/units"
require_relative "../figures/site_figures"
require_relative "../table/selection"

module Heapline
  # @api private
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
          Inert.text(text).gsub(/[&<>"']/, ESCAPES)
        end
      end
    end

    # The processes that may be looked at, each a link to its own figures.
    module ProcessPage
      TITLES = %w[pid state live growth RSS command].freeze

      class << self
        # rows: Array of Processes::KnownProcess; base: what links begin with. HTML.
        def render(rows, base:)
          lines = rows.map { |row| row.snapshot ? process(row, base) : problem(row) }
          Page.document("Processes that heapline counts", Page.table(TITLES, lines))
        end

        private

        def process(row, base)
          snapshot = row.snapshot
          [Page.link("#{base}/#{snapshot.pid}/", snapshot.pid), Heapline::Processes::ProcessList.state(snapshot),
           bytes(snapshot.live_bytes), bytes(snapshot.growth_bytes), bytes(row.memory&.rss_bytes),
           Page.escape(snapshot.command.join(" "))]
        end

        def problem(row)
          [row.entry.pid, "unreadable", "-", "-", "-", Page.escape(row.problem)]
        end

        def bytes(number)
          number ? Units.bytes(number) : "-"
        end
      end
    end

    # The sites of a snapshot, or groups of them, as a table whose headings sort it.
    class SitePage
      VIEWS = { "report" => "/", "lines" => "/each", "JSON" => "/each.json", "CSV" => "/each.csv",
                "text" => "/each.txt" }.freeze

      # query: Query; base: what links begin with; rows: how many unless the query says so.
      def initialize(query, base:, rows:)
        @query = query
        @base = base
        @rows = rows
      end

      # HTML.
      def render(snapshot)
        @columns = Figures::SiteFigures.for(@query.column.key, gcs: snapshot.ruby?)
        lines = select(snapshot).map { |site| line(site) }
        sorted = @columns.map(&:key).index(@query.column.key)
        table = Page.table([*heads, @query.by&.to_s || "location"], lines, sorted)
        Page.document("Process #{snapshot.pid}: #{snapshot.command&.join(" ")}", links + table)
      end

      private

      def select(snapshot)
        selection = Table::Selection.new(top: @query.top(@rows), sort: @query.column.figure, min: @query.min)
        selection.of(snapshot.sums(@query.by || :location))
      end

      def heads
        grouped = "&by=#{@query.by}" if @query.by
        @columns.map { |column| Page.link("#{@base}/each?sort=#{column.key}#{grouped}", column.title) }
      end

      def line(site)
        figures = @columns.map { |column| column.text(site) }
        [*figures, @query.by ? Page.escape(site.location) : place(site.location)]
      end

      def place(location)
        more = [location.label, location.via && "via #{location.via}"].compact
        [Page.location(location.to_s, @base), *more.map { |text| Page.escape(text) }].join(" ")
      end

      def links
        groups = Query::GROUPS.to_h { |group| ["by #{group}", "/each?by=#{group}"] }
        "<nav>#{VIEWS.merge(groups).map { |name, path| Page.link("#{@base}#{path}", name) }.join}</nav>"
      end
    end
  end
end
