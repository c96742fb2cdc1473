# frozen_string_literal: true

require "test_helper"
require "stringio"
require "support/reports"
require "support/snapshots"
require "heapline/format"
require "heapline/format/html"

module Heapline
  module Format
    class HtmlTest < Minitest::Test
      include Snapshots
      include Reports

      HOSTILE = ["<script>alert(1)</script>.rb", "</script><!--.rb", "\e[31m.rb", "nul\0.rb", "\u202Egpj.rb",
                 "line\u2028.rb", "bad\xFF.rb"].freeze

      def render(snapshot, **options)
        io = StringIO.new
        Html.new(**options).render(snapshot, io)
        io.string
      end

      def data(page)
        JSON.parse(page[%r{<script type="application/json" id="data">(.*?)</script>}m, 1])
      end

      def test_the_name_html_and_files_of_that_name
        assert_same Html, Format.fetch("html")
        assert_equal "html", Format.of_file("report.html")
      end

      def test_the_policy_allows_the_script_and_the_style_that_are_there_and_nothing_else
        page = render(leaky)
        policy = page[/Content-Security-Policy" content="([^"]+)"/, 1]
        script = page[%r{<script>(.*?)</script>}m, 1]
        style = page[%r{<style>(.*?)</style>}m, 1]

        assert_includes policy, "default-src 'none'"
        assert_includes policy, "script-src 'sha256-#{Digest::SHA256.base64digest(script)}'"
        assert_includes policy, "style-src 'sha256-#{Digest::SHA256.base64digest(style)}'"
        assert_operator page.index("Content-Security-Policy"), :<, page.index("<style>")
      end

      def test_the_bundle_can_stand_between_its_tags
        refute_match(%r{</script}i, File.read(File.join(Html::Page::ASSETS, "report.js")))
        refute_match(%r{</style}i, File.read(File.join(Html::Page::ASSETS, "report.css")))
      end

      def test_hostile_names_cannot_leave_the_data
        sites = HOSTILE.map { |name| site("/app/#{name}", 1, label: name, library: name, tag: name, live_bytes: 9) }
        page = render(snapshot(*sites, command: ["ruby", *HOSTILE]))

        assert_predicate page, :valid_encoding?
        refute_match(/[\0\e\u202E\u2028]/, page)
        assert_equal 2, page.scan("</script>").size
        refute_includes page[%r{<title>.*</title>}], "<script>"
        assert_includes data(page)["strings"], "/app/<script>alert(1)</script>.rb"
        assert_includes data(page)["strings"], "/app/nul\\x00.rb"
      end

      def test_the_same_snapshot_gives_the_same_bytes
        assert_equal render(leaky), render(leaky)
      end

      def test_nothing_in_the_page_comes_from_elsewhere
        markup = render(leaky).sub(%r{<script>.*?</script>}m, "").sub(%r{<style>.*?</style>}m, "")
        refute_match(%r{https?://|\bsrc=|<link|\son\w+=|\sstyle=}, markup.sub(/<meta [^>]*Policy[^>]*>/, ""))
      end

      def test_growth_without_a_snapshot
        page = render(nil, growth: growth)
        assert_nil data(page)["sites"]
        assert_equal [], data(page)["growth"]["series"]
      end
    end
  end
end
