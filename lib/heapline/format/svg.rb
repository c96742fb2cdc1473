# frozen_string_literal: true

require_relative "html/page"
require_relative "inert"

module Heapline
  module Format
    # Markup of pictures. They have no script and name nothing that a reader would load.
    module Svg
      NAMESPACE = "http://www.w3.org/2000/svg"

      # The element of a picture. attributes: its class, viewBox …; label: what it shows, for who does not see it.
      # style: the rules that it brings with it, "" within a page that has them.
      def self.picture(content, label:, style: "", **attributes)
        rules = "<style>#{style}</style>" unless style.empty?
        all = pairs({ xmlns: NAMESPACE, **attributes, role: "img", "aria-label": label })
        %(<svg #{all}>#{rules}#{content}</svg>\n)
      end

      # Words at a place, in a class of the style.
      def self.text(across, down, kind, words)
        %(<text class="#{kind}" x="#{across}" y="#{down}">#{escape(words)}</text>)
      end

      # `text` from outside, as markup.
      def self.escape(text)
        Html::Page.escape(Inert.text(text))
      end

      def self.pairs(attributes)
        attributes.map { |name, value| %(#{name}="#{escape(value.to_s)}") }.join(" ")
      end
      private_class_method :pairs
    end
  end
end
