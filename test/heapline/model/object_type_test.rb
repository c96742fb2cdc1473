# frozen_string_literal: true

require "test_helper"
require "heapline/model/object_type"
require "rbconfig"

module Heapline
  module Model
    class ObjectTypeTest < Minitest::Test
      def test_the_names_are_those_of_this_rubys_headers
        header = File.read(File.join(RbConfig::CONFIG.fetch("rubyhdrdir"), "ruby", "internal", "value_type.h"))
        numbers = header.scan(/RUBY_(T_\w+) *= 0x(\h+)/).to_h { |name, number| [number.hex, name] }
        assert_equal ObjectType::NAMES, numbers.slice(*ObjectType::NAMES.keys)
      end

      def test_a_number_that_has_none
        assert_equal(%w[T_STRING T_23], [5, 23].map { |number| ObjectType.name_of(number) })
      end
    end
  end
end
