# frozen_string_literal: true

require "test_helper"
require "support/heap_values"
require "heapline/format/heap/html"

module Heapline
  module Format
    module Heap
      class HtmlTest < Minitest::Test
        include HeapValues

        def page(dump, **options)
          io = StringIO.new
          Html.new(**options).render(dump, io)
          io.string
        end

        def test_the_page_carries_the_script_for_dumps
          text = page(shop)
          assert_includes text, "<title>app.heap · heap dump · heapline</title>"
          assert_includes text, File.read(File.join(Format::Html::Page::ASSETS, "heap.js"))
        end

        def test_hostile_names_cannot_leave_the_data
          text = page(hostile)
          assert_equal 2, text.scan("</script>").size
          refute_match(/[\0\e\u202e]/, text)
        end

        def test_values_can_be_hidden
          refute_includes page(shop, values: false), "hello"
        end
      end
    end
  end
end
