# frozen_string_literal: true

require "test_helper"
require "heapline/model/block_memory"

class BlockMemoryTest < Minitest::Test
  def test_adds_up_both_kinds
    memory = Heapline::Model::BlockMemory.new(malloc_bytes: 1000, object_bytes: 65_536)
    assert_equal 66_536, memory.bytes
    assert_predicate memory, :frozen?
  end
end
