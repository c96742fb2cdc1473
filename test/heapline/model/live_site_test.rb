# frozen_string_literal: true

require "test_helper"
require "json"
require "heapline/model/live_site"
require "support/code_lines"

module Heapline
  module Model
    class LiveSiteTest < Minitest::Test
      def sites
        CodeLines::SITES.lines.map { |line| LiveSite.of(JSON.parse(line)) }
      end

      def test_a_line_and_a_library
        ruby, native, = sites
        assert_equal [7, "lib/pages.rb:12", "Pages#compile", 5000, 8, nil],
                     [ruby.number, ruby.location.to_s, ruby.location.label, ruby.live_bytes, ruby.live_blocks,
                      ruby.live_objects]
        assert_equal ["libruby.so.3.4+0x1000", "ruby core"], [native.location.to_s, native.location.gem]
      end
    end
  end
end
