# frozen_string_literal: true

# Damages bytes in the ways in which files get damaged, and in those that somebody would try. Everything comes from the
# Random.
class Mutations
  NUMBERS = %w[-1 0 1 255 65536 2147483648 4294967295 9223372036854775808 18446744073709551616 1e400 1e308 0.5 -0
               99999999999999999999999999999999999999].freeze
  TOKENS = ["null", "true", "[]", "{}", "\"\"", "\"\\ud800\"", "\"\\u0000\"", "\"x\xff\xfe\"", "[[[[[[]]]]]]", "-1",
            "1e400", "\"#{"long" * 2000}\"", "{\"type\":\"HEAPLINE\"}", "[null]"].map(&:b).freeze
  PIECES = ["\0", "\xff\xfe\xfd", "\n", "\n\n", "}", "{", "\"", "\xed\xa0\x80", "\e[2J", "\0" * 64, "\xff" * 8,
            "{" * 200, "[" * 200, "...\n" * 50, "*" * 40, "a" * 5000].map(&:b).freeze
  # A JSON value, or a number in any text.
  TOKEN = /"(?:[^"\\\n]|\\.){0,80}"|-?\d+(?:\.\d+)?|\b(?:true|false|null)\b/n
  WAYS = %i[flip set set number token token token piece drop twice cut swap lines].freeze

  def initialize(random)
    @random = random
  end

  # A damaged copy.
  def of(bytes)
    damaged = bytes.b
    @random.rand(1..4).times { damaged = public_send(WAYS.sample(random: @random), damaged) }
    damaged
  end

  def flip(bytes)
    edit(bytes) { |at| bytes.setbyte(at, bytes.getbyte(at) ^ (1 << @random.rand(8))) }
  end

  def set(bytes)
    edit(bytes) { |at| bytes.setbyte(at, [0, 1, 0x7f, 0x80, 0xff, @random.rand(256)].sample(random: @random)) }
  end

  def number(bytes)
    replace(bytes, /\d+/n) { NUMBERS.sample(random: @random) }
  end

  def token(bytes)
    replace(bytes, TOKEN) { TOKENS.sample(random: @random) }
  end

  def piece(bytes)
    bytes.insert(@random.rand(bytes.bytesize + 1), PIECES.sample(random: @random))
  end

  def drop(bytes)
    edit(bytes) { |at| bytes[at, @random.rand(1..64)] = "".b }
  end

  def twice(bytes)
    edit(bytes) { |at| bytes.insert(@random.rand(bytes.bytesize), bytes[at, @random.rand(1..400)]) }
  end

  def cut(bytes)
    bytes.byteslice(0, @random.rand(bytes.bytesize + 1))
  end

  def swap(bytes)
    edit(bytes) { |at| bytes[at, 8] = bytes[at, 8].reverse }
  end

  def lines(bytes)
    bytes.lines.shuffle(random: @random).drop(@random.rand(2)).join
  end

  private

  def edit(bytes)
    yield @random.rand(bytes.bytesize) unless bytes.empty?
    bytes
  end

  def replace(bytes, pattern)
    at = bytes.index(pattern, @random.rand(bytes.bytesize + 1)) or return bytes
    bytes[at, Regexp.last_match(0).bytesize] = yield.b
    bytes
  end
end
