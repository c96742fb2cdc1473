# frozen_string_literal: true

require "test_helper"
require "digest"
require "heapline/web/page"
require "support/snapshots"
require "heapline/processes/process_list"
require "heapline/web/request"

module Heapline
  module Web
    class PageTest < Minitest::Test
      HOSTILE = "<script>\"'&\e[31m\u202E\0\xFF"

      def test_names_are_inert
        html = Page.document(HOSTILE, Page.table([Page.link(HOSTILE, HOSTILE)], [[Page.escape(HOSTILE)]]))
        refute_match(/<script>|[\e\0\u202E]/, html)
        assert_predicate html, :valid_encoding?
        assert_includes html, "&lt;script&gt;&quot;&#39;&amp;\\x1B[31m\\u{202E}\\x00\\xFF"
      end

      def test_the_policy_allows_the_style_and_nothing_else
        style = Page.document("x", "")[%r{<style>(.*)</style>}m, 1]
        assert_includes Page::POLICY, "style-src 'sha256-#{Digest::SHA256.base64digest(style)}'"
        assert_includes Page::POLICY, "default-src 'none'"
      end

      def test_a_location_is_one_part_of_a_path
        assert_equal "<a href=\"/h/at//app/a%20%3Cb%3E%3F%23.rb:12\">/app/a &lt;b&gt;?#.rb:12</a>",
                     Page.location("/app/a <b>?#.rb:12", "/h")
      end

      def test_the_sorted_column_is_marked
        assert_includes Page.table(%w[a b], [%w[1 2]], 1),
                        '<th scope="col">a</th><th scope="col" aria-sort="descending">b'
      end
    end

    class ProcessPageTest < Minitest::Test
      include Snapshots

      Entry = Struct.new(:pid)

      def test_each_process_is_a_link
        row = Heapline::Processes::KnownProcess.new(entry: Entry.new(4711), snapshot: leaky.with(command: ["<ruby>"]))
        html = ProcessPage.render([row], base: "/h")
        assert_includes html, '<a href="/h/4711/">4711</a></td><td>exited</td><td>52.22 MB'
        assert_includes html, "&lt;ruby&gt;"
      end

      def test_what_cannot_be_read_says_why
        html = ProcessPage.render([Heapline::Processes::KnownProcess.new(entry: Entry.new(1), problem: "cut short")],
                                  base: "")
        assert_includes html, "<td>1</td><td>unreadable</td>"
        assert_includes html, "cut short"
      end
    end

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

      def test_a_program_without_a_gc
        html = render({ "sort" => "life" }, leaky.with(ruby: nil, gc_count: nil))
        assert_match(%r{<th scope="col" aria-sort="descending"><a href="[^"]*">life</a>}, html)
        refute_match(/GCs/, html)
      end

      private

      def render(params = {}, snapshot = leaky)
        SitePage.new(Query.new(params), base: "/h", rows: 50).render(snapshot)
      end
    end
  end
end
