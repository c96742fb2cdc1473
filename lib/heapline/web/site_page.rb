# frozen_string_literal: true

require_relative "../format/columns"
require_relative "../format/selection"
require_relative "page"

module Heapline
  module Web
    # The sites of a snapshot, or groups of them, as a table whose headings sort it.
    class SitePage
      VIEWS = { "report" => "/", "lines" => "/each", "JSON" => "/each.json", "CSV" => "/each.csv",
                "text" => "/each.txt" }.freeze

      # query: Query; base: what links begin with; rows: how many unless the query says so.
      def initialize(query, base:, rows:)
        @query = query
        @base = base
        @rows = rows
        @columns = Format::Columns.for(query.column.key)
      end

      # HTML.
      def render(snapshot)
        lines = select(snapshot).map { |site| line(site) }
        table = Page.table([*heads, @query.by&.to_s || "location"], lines, @columns.index(@query.column))
        Page.document("Process #{snapshot.pid}: #{snapshot.command&.join(" ")}", links + table)
      end

      private

      def select(snapshot)
        selection = Format::Selection.new(top: @query.top(@rows), sort: @query.column.figure, min: @query.min)
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
