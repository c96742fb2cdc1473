# frozen_string_literal: true

require "stringio"
require "test_helper"
require "heapline/page/document"
require "support/readers"

module Heapline
  module Page
    class DocumentTest < Minitest::Test
      def page(data: {}, title: "shop")
        io = StringIO.new
        Document.new("report.js").write(io, title: title, data: data)
        io.string
      end

      def test_the_policy_names_what_is_there
        policy = page[/Content-Security-Policy" content="([^"]+)"/, 1]
        digest = Digest::SHA256.base64digest(page[%r{<script>(.*?)</script>}m, 1])
        assert_includes policy, "script-src 'sha256-#{digest}'"
      end

      def test_data_cannot_leave_its_block
        text = page(data: { name: "</script><script>alert(1)</script>" })
        assert_equal 2, text.scan("</script>").size
        assert_equal "</script><script>alert(1)</script>",
                     JSON.parse(text[%r{id="data">(.*?)</script>}m, 1])["name"]
      end

      def test_the_title_is_inert
        assert_includes page(title: "<b>\e&"), "<title>&lt;b&gt;\\x1B&amp; · heapline</title>"
      end

      def test_every_script_can_stand_between_its_tags
        Dir[File.join(Document::ASSETS, "*.js")].each { |path| refute_match(%r{</script}i, File.read(path)) }
      end
    end

    class SvgTest < Minitest::Test
      include Readers

      PROGRAM = <<~PYTHON
        import sys, xml.etree.ElementTree as e
        root = e.fromstring(sys.stdin.read())
        print(root.tag, root.get("aria-label"), root.get("width"), [(each.tag.split("}")[1], each.text) for each in root])
      PYTHON

      def test_xml_with_its_style
        picture = Svg.picture(Svg.text(1, 2, "name", "a"), label: "b", style: ".name { fill: red; }", width: 10)
        assert_equal "{http://www.w3.org/2000/svg}svg b 10 [('style', '.name { fill: red; }'), ('text', 'a')]\n",
                     python(PROGRAM, picture)
      end

      def test_names_are_text
        picture = Svg.picture(Svg.text(1, 2, "name", "<script>&\e\"\u202E"), label: "\"><script>\0")
        assert_equal "{http://www.w3.org/2000/svg}svg \"><script>\\x00 None " \
                     "[('text', '<script>&\\\\x1B\"\\\\u{202E}')]\n", python(PROGRAM, picture)
        refute_includes picture, "<style>"
      end
    end
  end
end
