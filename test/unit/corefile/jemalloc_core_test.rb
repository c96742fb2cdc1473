# frozen_string_literal: true

require "test_helper"
require "support/core_bytes"

# jemalloc's memory is found by its form, or not at all.
class JemallocCoreTest < Minitest::Test
  include CoreBytes

  PAGE = CoreSample::PAGE

  def read(parts, &)
    with_bytes(CoreSample.bytes(parts), &)
  end

  # Of each slab three of four regions are in use; one of these waits in a stack of a thread's.
  def test_what_there_is
    read(CoreSample.jemalloc) do |core|
      used = (CoreSample::SLABS * 24 * 128) + 16_384
      free = (CoreSample::SLABS * 8 * 128) + PAGE
      assert_equal [["jemalloc", nil, 0, 11 * PAGE, 11 * PAGE, used, free, 0, 0, (CoreSample::SLABS * 8) + 1, PAGE]],
                   core.arena_rows.drop(1)
      assert_equal [[CoreSample::LARGE + 64, 16_384, 2, true, 0], [CoreSample::FREE, PAGE, 2, false, 0]],
                   core.chunk_rows.first(2)
      totals, cached, lost = core.leak_rows
      assert_equal [[CoreSample::SLABS * 24, [1, 128]], [0, 128, (CoreSample::SLABS * 24) - 1]],
                   [[totals[0], cached], lost.find { |site,| site.zero? }.first(3)]
    end
  end

  # Each of these alone leaves nothing that could be believed.
  def test_what_does_not_fit
    { "slabs say another number of free regions" => [:BOOK, PAGE + 3, 0x50],
      "descriptions are of other addresses" => [:BOOK, PAGE + 9, 0x77],
      "the root leads elsewhere" => [:TREE, 9, 0xff] }.each do |what, (name, at, byte)|
      parts = CoreSample.jemalloc
      memory = parts[CoreSample.const_get(name)].dup
      count = name == :BOOK ? CoreSample::SLABS : 1
      count.times { |i| memory.setbyte(at + (i * 128), memory.getbyte(at + (i * 128)) ^ byte) }
      read(parts.merge(CoreSample.const_get(name) => memory)) do |core|
        assert_equal ["glibc"], core.arena_rows.map(&:first), what
        assert_equal "/lib/libjemalloc.so.2", core.facts[:unread], what
      end
    end
  end
end
