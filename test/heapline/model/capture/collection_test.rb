# frozen_string_literal: true

require "test_helper"
require "heapline/model/capture/collection"

module Heapline
  module Model
    module Capture
      class CollectionTest < Minitest::Test
        def test_a_frozen_value
          collection = Collection.new(generation: 4, time: 0.5)
          assert_equal [4, 0.5, nil, nil, nil], collection.to_a
          assert collection.frozen?
        end
      end
    end
  end
end
