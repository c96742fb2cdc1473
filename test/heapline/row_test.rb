# frozen_string_literal: true

require "test_helper"
require "heapline"

class RowTest < Minitest::Test
  def test_figures_that_follow_from_others
    row = Heapline::Row.new("app.rb:1", 1000, 10, 4, 400, 20, 9, 5, 600, 6)
    assert_equal [600, 6, 4.0], [row.retained_bytes, row.retained_blocks, row.mean_lifespan]
    assert_predicate row, :frozen?
    refute_predicate row, :idle?
  end

  def test_nothing_was_freed
    assert_equal Float::INFINITY, Heapline::Row.new("app.rb:1", 8, 1, 0, 0, 0, 0, 0, 8, 1).mean_lifespan
  end

  def test_each_live_block
    blocks = Heapline::LiveBlocks.new([16, 40, 3, 9, 64, 8, 4, 9].pack("Q*"))
    row = Heapline::Row.new("app.rb:1", 1000)
    seen = []
    replacing(Heapline, :blocks, blocks) do
      assert_same(row, row.each { |*pair| seen << pair })
      assert_equal seen, row.each.to_a
    end
    assert_equal [[40, 3], [8, 4]], seen
    assert_equal ["app.rb:1", 1000], row.to_a.first(2)
  end

  def test_idle
    assert_predicate Heapline::Row.new("app.rb:1", 0, 0, 0, 0, 3, 3, 1, 0, 0), :idle?
    refute_predicate Heapline::Row.new("app.rb:1", 0, 0, 0, 0, 3, 3, 1, -8, -1), :idle?
  end
end
