# frozen_string_literal: true

require "test_helper"
require "support/rendered_capture"
require "heapline/format/capture/html"

module Heapline
  module Format
    module Capture
      # The page itself: test/browser/capture_test.rb.
      class HtmlTest < Minitest::Test
        include RenderedCapture

        def test_one_file_with_its_script_and_a_policy
          text = random(Html).first.force_encoding(Encoding::UTF_8)
          script = text[%r{<script>(.*?)</script>}m, 1]
          assert_includes text, "script-src 'sha256-#{Digest::SHA256.base64digest(script)}'"
          assert_equal File.read(File.join(Format::Html::Page::ASSETS, "capture.js")), script
          assert_includes text, "<title>recording · ruby · heapline</title>"
        end

        def test_the_bundle_can_stand_between_its_tags
          refute_match(%r{</script}i, File.read(File.join(Format::Html::Page::ASSETS, "capture.js")))
        end

        def test_hostile_and_empty
          text = hostile(Html)
          refute_match(/[\e\0]/, text)
          assert_equal 2, text.scan("</script>").size
          assert_includes empty(Html), '"cells":""'
        end

        def test_it_tells_how_far_it_is
          told = []
          random(Html, progress: ->(done, total) { told << [done, total] })
          told.each { |done, total| assert_operator done, :<=, total }
        end
      end
    end
  end
end
