# frozen_string_literal: true

require "test_helper"
require "heapline/model/block_allocations"

class BlockAllocationsTest < Minitest::Test
  def test_is_frozen
    assert_predicate Heapline::Model::BlockAllocations.new(kind: :objects, number: 3, lines: []), :frozen?
  end
end
