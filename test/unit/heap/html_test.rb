# frozen_string_literal: true

require "test_helper"
require "json"
require "support/heap_values"
require "heapline/heap/html"

module Heapline
  module Heap
    class PageDataTest < Minitest::Test
      include HeapValues

      def data(dump = shop, **options)
        @data = PageData.new(**options).of(dump)
      end

      def text(numbers)
        numbers.map { |number| @data[:strings][number] }
      end

      def test_classes_with_what_they_retain
        classes = data[:classes]
        assert_equal %w[String Class Hash Session Array], text(classes[:name])
        assert_equal [2600, 1280, 336, 80, 40], classes[:bytes]
        assert_equal [2560, 1320, 2856, 2936, 2976], classes[:retained_bytes]
        assert_equal [0, 0, 0], classes[:rest]
      end

      def test_where_classes_are_defined
        classes = data(shop(definitions: { "Session" => Places::Location.new("app.rb", 3) }))[:classes]
        assert_equal [["", -1], ["app.rb", 3], ["", -1]], text(classes[:place]).zip(classes[:line])[2, 3]
      end

      def test_lines
        lines = data[:lines]
        assert_equal [["/srv/shop/app/session.rb", 14], ["(not traced)", -1]],
                     text(lines[:place]).zip(lines[:line]).first(2)
        assert_nil data(shop(traced: 0))[:lines]
      end

      def test_equal_strings
        assert_equal [40, 2], data[:equal].values_at(:wasted_bytes, :count).map(&:last)
        assert_equal ['"hello"'], text(@data[:equal][:value]).last(1)
      end

      def test_values_can_be_hidden
        refute_match(/hello|html/, JSON.generate(data(values: false)))
      end

      def test_hostile_names_are_inert
        text = JSON.generate(data(hostile))
        refute_match(/[\0\e\u202e]|\\u001b|\\u0000|\\u202e/, text)
        assert_equal 1, @data[:problems].size
      end

      def test_of_nothing
        assert_equal "0", data(HeapValues::Dump.new(HeapValues::Graph.new))[:tiles].first[1]
      end
    end

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
        assert_includes text, File.read(File.join(Heapline::Page::Document::ASSETS, "heap.js"))
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
