# frozen_string_literal: true

require "test_helper"
require "stringio"
require "heapline/mwrap"

# Without the preload Mwrap is inert, as mwrap is. With it: test/integration/mwrap_test.rb.
class MwrapTest < Minitest::Test
  def test_there_is_nothing_to_see
    seen = []
    assert_nil(Mwrap.each { |*row| seen << row })
    assert_empty seen
    assert_nil Mwrap["app.rb:1"]
    assert_equal [0, 0, nil, nil], [Mwrap.total_bytes_allocated, Mwrap.total_bytes_freed, Mwrap.reset, Mwrap.clear]
  end

  def test_dumps_nothing
    out = StringIO.new
    assert_nil Mwrap.dump(out)
    assert_empty out.string
  end

  def test_quiet_yields_its_depth
    assert_equal 1, (Mwrap.quiet { |depth| depth })
  end

  def test_refuses_what_mwrap_refuses
    assert_raises(LocalJumpError) { Mwrap.each }
    assert_raises(LocalJumpError) { Mwrap.quiet }
    assert_raises(TypeError) { Mwrap.each("1", &:freeze) }
    assert_raises(TypeError) { Mwrap.dump($stderr, "1") }
    assert_raises(TypeError) { Mwrap.dump("log") }
    assert_raises(TypeError) { Mwrap.dump(2) }
    assert_raises(ArgumentError) { Mwrap.dump($stderr, 1, 2) }
    assert_raises(TypeError) { Mwrap[nil] }
    assert_raises(NoMethodError) { Mwrap::SourceLocation.new("app.rb:1") }
  end
end

# The pages of the object heap, without the preload.
class MwrapHeapPagesTest < Minitest::Test
  # Seen of mwrap 2.3.0 where no page was freed.
  NONE = { lifespan_max: -1, lifespan_min: -1, lifespan_mean: Float::INFINITY, lifespan_stddev: 0.0,
           deathspan_max: -1, deathspan_min: -1, deathspan_mean: Float::INFINITY, deathspan_stddev: 0.0,
           resurrects: 0 }.freeze

  def test_there_is_nothing_to_see
    assert_equal(0, Mwrap::HeapPageBody.each { flunk })
    assert_equal NONE, Mwrap::HeapPageBody.stat
  end

  def test_a_hash_of_ones_own
    given = { mine: 1 }
    assert_same given, Mwrap::HeapPageBody.stat(given)
    assert_equal [:mine, *NONE.keys], given.keys
  end

  def test_refuses_what_mwrap_refuses
    error = assert_raises(TypeError) { Mwrap::HeapPageBody.stat(1) }
    assert_equal "not a hash 1", error.message
    assert_raises(LocalJumpError) { Mwrap::HeapPageBody.each }
  end
end
