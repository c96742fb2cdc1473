# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/leak_reports"
require "heapline/format/leaks_html"

module Heapline
  module Format
    # Its data; the page itself: test/browser/leaks_test.rb.
    class LeaksHtmlTest < Minitest::Test
      include LeakReports

      def page(leaks, **options)
        io = StringIO.new
        LeaksHtml.new(**options).render(leaks, io)
        io.string
      end

      def test_one_file_with_its_script_and_a_policy
        text = page(leaks)
        script = text[%r{<script>(.*?)</script>}m, 1]
        assert_includes text, "script-src 'sha256-#{Digest::SHA256.base64digest(script)}'"
        assert_equal File.read(File.join(Html::Page::ASSETS, "leaks.js")), script
        assert_includes text, "<title>lost blocks · pid 42 · heapline</title>"
      end

      def test_the_bundle_can_stand_between_its_tags
        refute_match(%r{</script}i, File.read(File.join(Html::Page::ASSETS, "leaks.js")))
      end

      def test_nothing_in_it_ends_the_block
        text = page(leaks([record(path: "</script><script>alert(1)</script>.rb")]))
        assert_equal 2, text.scan("</script>").size
      end
    end
  end
end
