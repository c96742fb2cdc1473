# frozen_string_literal: true

require_relative "../html/page"
require_relative "page_data"

module Heapline
  module Format
    module Capture
      # A capture as one HTML file that needs nothing else; see Format::Html::Page.
      class Html
        # metric: shown first, as for Heapline::Capture#tree. source: are lines of Ruby source read into it?
        # progress: called while the capture is read, as by Heapline::Capture.open.
        def initialize(metric: :peak, source: true, progress: nil)
          @data = PageData.new(metric: metric, source: source, progress: progress)
        end

        # Write the page of a Heapline::Capture to `io`.
        def render(capture, io)
          data = @data.of(capture)
          Format::Html::Page.new("capture.js").write(io, title: "recording · #{data[:command]}", data: data)
        end
      end
    end
  end
end
