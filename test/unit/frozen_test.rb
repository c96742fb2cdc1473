# frozen_string_literal: true

require "test_helper"
require "heapline/frozen"

module Heapline
  class FrozenTest < Minitest::Test
    Pair = Struct.new(:left, :right, keyword_init: true) { include Frozen }

    def test_values_are_named_and_do_not_change
      pair = Pair.new(left: 1, right: 2)
      assert_equal [1, 2], pair.to_a
      assert_raises(FrozenError) { pair.left = 3 }
      assert_raises(ArgumentError) { Pair.new(middle: 1) }
    end
  end
end
