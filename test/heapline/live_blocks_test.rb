# frozen_string_literal: true

require "test_helper"
require "heapline"

# Of packed words; of real blocks: test/integration/blocks_test.rb.
class LiveBlocksTest < Minitest::Test
  def test_one_for_each_four_words
    blocks = Heapline::LiveBlocks.new([0x7f0010, 40, 3, 9, 0x7f0100, 0, 4, 0].pack("Q*"))
    assert_equal 2, blocks.size
    assert_equal [[0x7f0010, 40, 3, 9], [0x7f0100, 0, 4, 0]], blocks.map(&:to_a)
    assert_equal 40, blocks.sum(&:bytes)
    assert_equal [2, blocks], [blocks.each.size, blocks.each(&:bytes)]
    assert_predicate blocks.first, :frozen?
  end

  def test_none
    assert_empty Heapline::LiveBlocks.new("").to_a
  end

  def test_without_the_preload
    skip "runs under heapline" if Heapline.enabled?
    assert_raises(Heapline::NotEnabled) { Heapline.blocks("app.rb:1") }
    assert_raises(Heapline::NotEnabled) { Heapline::Row.new("app.rb:1").each.to_a }
  end
end
