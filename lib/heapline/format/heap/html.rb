# frozen_string_literal: true

require_relative "../html/page"
require_relative "page_data"

module Heapline
  module Format
    module Heap
      # A heap dump as one HTML file that needs nothing else; see Format::Html::Page.
      class Html
        # values: false hides what strings are.
        def initialize(values: true)
          @data = PageData.new(values: values)
        end

        # Write the page of `dump` (HeapDump) to `io`.
        def render(dump, io)
          title = "#{dump.name[%r{[^/]*\z}]} · heap dump"
          Format::Html::Page.new("heap.js").write(io, title: title, data: @data.of(dump))
        end
      end
    end
  end
end
