# frozen_string_literal: true

require_relative "../inert"

module Heapline
  module Format
    class Html
      # Texts by number, each once and inert: what the columns of a page refer to. Number 0 is none.
      class Strings
        # Array of String
        attr_reader :all

        def initialize
          @all = [""]
          @numbers = { nil => 0 }
        end

        # Number of a text; nil is none.
        def number(text)
          @numbers[text] ||= @all.push(Inert.text(text)).size - 1
        end
      end
    end
  end
end
