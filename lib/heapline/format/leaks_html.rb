# frozen_string_literal: true

require_relative "html/leak_data"
require_relative "html/page"

module Heapline
  module Format
    # Lost blocks as one HTML file that needs nothing else; see Html::Page.
    class LeaksHtml
      # kinds: of the records that are in it.
      def initialize(kinds: %i[definite indirect possible])
        @data = Html::LeakData.new(kinds: kinds)
      end

      # Write the page of `leaks` (Model::Leaks) to `io`.
      def render(leaks, io)
        data = @data.of(leaks)
        Html::Page.new("leaks.js").write(io, title: "lost blocks · #{data[:title]}", data: data)
      end
    end
  end
end
