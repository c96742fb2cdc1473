# frozen_string_literal: true

require "test_helper"
require "heapline/capture/class_name"

module Heapline
  class Capture
    class ClassNameTest < Minitest::Test
      def test_the_name_or_what_it_is_to_the_vm
        assert_equal ["Shop::Page", "T_STRING", "(other)"],
                     ClassName.all([["Shop::Page", 1], [nil, 5], [nil, 0]])
      end
    end
  end
end
