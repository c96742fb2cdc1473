# frozen_string_literal: true

require "test_helper"
require "support/snapshots"
require "heapline/web/query"
require "heapline/web/site_page"

module Heapline
  module Web
    class SitePageTest < Minitest::Test
      include Snapshots

      def test_the_lines_by_growth
        html = render
        rows = html.scan(%r{<tr>(<td>.*?)</tr>}).flatten
        assert_equal 2, rows.size
        assert_includes rows.first, "<td>51.20 MB</td>"
        assert_includes rows.first, '<a href="/h/at//app/leak.rb:12">/app/leak.rb:12</a> Object#leak_memory'
        assert_includes rows.last, "Cache#put via libxml2.so.2"
      end

      def test_the_headings_sort
        html = render("sort" => "frees", "by" => "library")
        assert_includes html, '<th scope="col" aria-sort="descending"><a href="/h/each?sort=frees&amp;by=library">frees'
        assert_match(%r{<td>libxml2.so.2</td>.*<td>ruby</td>}m, html)
      end

      def test_as_many_as_are_asked_for
        pages = [{ "top" => "1" }, { "top" => "0" }, { "min" => "2MB" }].map { |params| render(params) }
        assert_equal([1, 2, 1], pages.map { |html| html.scan("<tr><td>").size })
      end

      private

      def render(params = {})
        SitePage.new(Query.new(params), base: "/h", rows: 50).render(leaky)
      end
    end
  end
end
