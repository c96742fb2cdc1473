# frozen_string_literal: true

require "test_helper"
require "heapline/model/heap/summary"

module Heapline
  module Model
    module Heap
      class SummaryTest < Minitest::Test
        def test_slots_are_live_and_free
          summary = Summary.new(objects: 3, free_slots: 2)
          assert_equal 5, summary.slots
          assert summary.frozen?
        end
      end
    end
  end
end
