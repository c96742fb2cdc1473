# frozen_string_literal: true

require "test_helper"
require "digest"
require "heapline/web/page"

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
  end
end
