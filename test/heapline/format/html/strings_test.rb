# frozen_string_literal: true

require "test_helper"
require "heapline/format/html/strings"

module Heapline
  module Format
    class Html
      class StringsTest < Minitest::Test
        def test_each_once_and_inert
          strings = Strings.new
          assert_equal([0, 1, 2, 1], [nil, "\e", "a", "\e"].map { |text| strings.number(text) })
          assert_equal ["", "\\x1B", "a"], strings.all
        end
      end
    end
  end
end
