# frozen_string_literal: true

require "test_helper"
require "support/readers"
require "heapline/format/svg"

module Heapline
  module Format
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
