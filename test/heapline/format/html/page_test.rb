# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/format/html/page"

module Heapline
  module Format
    class Html
      class PageTest < Minitest::Test
        def page(data: {}, title: "shop")
          io = StringIO.new
          Page.new("report.js").write(io, title: title, data: data)
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
          Dir[File.join(Page::ASSETS, "*.js")].each { |path| refute_match(%r{</script}i, File.read(path)) }
        end
      end
    end
  end
end
