# frozen_string_literal: true

require "test_helper"
require "zlib"
require "support/core_bytes"

# A core that is packed is read as it is.
class PackedCoreTest < Minitest::Test
  include CoreBytes

  BLOCK = 100_000

  def read(bytes)
    with_bytes(bytes) { |core| return [core.live_rows, core.facts] }
  end

  # A frame as the format says; a block's kind is 0: raw, 1: one byte, again and again.
  def zstd(blocks)
    last = blocks.size - 1
    body = blocks.each_with_index.map do |(kind, size, bytes), i|
      [(size << 3) | (kind << 1) | (i == last ? 1 : 0)].pack("L")[0, 3] + bytes
    end
    [0xFD2FB528, 0, 0x58].pack("LCC") + body.join
  end

  def raw(bytes)
    bytes.scan(/.{1,#{BLOCK}}/mn).map { |part| [0, part.size, part] }
  end

  def test_it_tells_the_same
    plain, facts = read(sample = CoreSample.bytes)
    refute_empty plain
    assert_equal 4711, facts[:start_ticks]
    [zstd(raw(sample)), Zlib.gzip(sample)].each do |packed|
      rows, of_packed = read(packed)
      assert_equal [plain, nil, 0], [rows, *of_packed.values_at(:problem, :missing_bytes)]
    end
  end

  # What is behind the end that the headers promise is not unpacked, however much it is.
  def test_a_bomb_ends_where_its_headers_say
    sample = CoreSample.bytes
    rows, facts = read(zstd(raw(sample) + ([[1, 1 << 17, "\0"]] * 100_000)))
    assert_equal read(sample).first, rows
    assert_operator facts[:bytes], :<, 64 << 20
  end

  # Headers that promise what no disk has.
  def test_a_bomb_that_promises_much
    sample = CoreSample.bytes
    sample[64 + 56 + 32, 8] = [1 << 60].pack("Q")
    error = assert_raises(Heapline::Error) { read(zstd(raw(sample))) }
    assert_match(/is 1\d{18} bytes unpacked, and .* has room for \d+: set TMPDIR to another place/, error.message)
  end

  def test_what_is_damaged
    packed = zstd(raw(CoreSample.bytes))
    _, facts = read(packed[0, packed.size - 5000])
    assert_match(/its zstd data ends in the middle/, facts[:problem])
    assert_raises(Heapline::Error) { read(packed[0, 20]) }
    assert_raises(Heapline::Error) { read(Zlib.gzip("no core")) }
  end
end
