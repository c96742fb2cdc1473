# frozen_string_literal: true

# Writes plans as docs/replay-plan.md has them, without the code that heapline writes and reads them with.
class PlanBuilder
  WINDOW = 1024
  KINDS = %i[malloc calloc aligned realloc free wait epoch start].freeze
  AWAITED = 0x08
  WORD = (1 << 64) - 1

  Stream = Struct.new(:bytes, :calls, :slot, :epoch, :lasts)

  attr_reader :calls

  def initialize
    @threads = []
    @epochs = []
    @sizes = {}
    @calls = @slots = @allocated = @peak = 0
    @time_ns = 0
    @header = {}
  end

  # From now on calls happen so many nanoseconds after the beginning.
  def at(time_ns)
    @time_ns = time_ns
    self
  end

  def malloc(slot, size, thread: 0, awaited: false)
    call(:malloc, thread, slot, awaited, size)
  end

  def calloc(slot, size, thread: 0)
    call(:calloc, thread, slot, false, size)
  end

  def aligned(slot, size, exponent, thread: 0)
    call(:aligned, thread, slot, false, size, exponent)
  end

  def realloc(slot, size, thread: 0)
    call(:realloc, thread, slot, false, size)
  end

  def free(slot, thread: 0, awaited: false)
    call(:free, thread, slot, awaited, nil)
  end

  # `thread` waits until `other` has done so many calls.
  def wait(other, calls, thread:)
    raw(thread, :wait, number(other) + number(calls))
  end

  def ends(thread)
    stream(thread).lasts = 0
    self
  end

  # Fields of the header that are to be other than they are.
  def header(**fields)
    @header.update(fields)
    self
  end

  # Bytes behind a thread's operations.
  def raw(thread, kind, operands = "".b)
    enter(thread)
    stream(thread).bytes << KINDS.index(kind).chr.b << operands
    self
  end

  def to_s
    tables = (@threads.size * 32) + (@epochs.size * 24)
    at = 136 + tables
    table = @threads.map do |one|
      entry = [at, one.bytes.bytesize, one.calls, one.lasts, 0].pack("Q<3L<2")
      at += one.bytes.bytesize
      entry
    end.join
    rest = table + @epochs.map { |live, time, threads| [live, time, threads, 0].pack("Q<2L<2") }.join +
           @threads.map(&:bytes).join
    head = head(at)
    head + [sum(sum(0xcbf29ce484222325, head), rest)].pack("Q<") + rest
  end

  def write(path)
    File.binwrite(path, to_s)
    path
  end

  def number(value)
    bytes = "".b
    while value > 127
      bytes << ((value & 127) | 128)
      value >>= 7
    end
    bytes << value
  end

  private

  def head(size)
    fields = { version: 1, window: WINDOW, threads: @threads.size, reserved: 0, slots: @slots, calls: @calls,
               epochs: @epochs.size, allocations: @allocations.to_i, bytes_allocated: @allocated, peak: @peak,
               live: @sizes.values.sum, largest: @largest.to_i, left_out: 3, recorded_ns: @time_ns, threads_at: 136,
               epochs_at: 136 + (@threads.size * 32), size: size, magic: "HLPLAN\r\n" }.merge(@header)
    fields[:magic].b + fields.except(:magic).values.pack("L<4Q<13")
  end

  def stream(thread)
    @threads << Stream.new("".b, 0, 0, -1, 1) until @threads.size > thread
    @threads[thread]
  end

  def call(kind, thread, slot, awaited, *numbers)
    enter(thread)
    one = stream(thread)
    one.bytes << (KINDS.index(kind) | (awaited ? AWAITED : 0)).chr.b << number(fold(slot - one.slot))
    one.bytes << numbers.compact.map { |value| number(value) }.join
    one.slot = slot
    one.calls += 1
    account(kind, slot, numbers.first)
  end

  def account(kind, slot, size)
    @slots = [@slots, slot + 1].max
    size ? @sizes[slot] = size : @sizes.delete(slot)
    @allocated += size.to_i
    @allocations = @allocations.to_i + 1 if %i[malloc calloc aligned].include?(kind)
    @largest = [@largest.to_i, size.to_i].max
    @peak = [@peak, @sizes.values.sum].max
    @epochs.last[0] = @sizes.values.sum
    @epochs.last[1] = @time_ns
    @calls += 1
    self
  end

  def enter(thread)
    epoch = @calls / WINDOW
    known = @threads.size > thread
    one = stream(thread)
    raw(0, :start, number(thread)) unless known || thread.zero?
    return if one.epoch == epoch

    @epochs << [0, 0, 0] until @epochs.size > epoch
    @epochs[epoch][2] += 1
    one.bytes << KINDS.index(:epoch).chr.b << number(epoch - one.epoch)
    one.epoch = epoch
  end

  def fold(value)
    value.negative? ? (-value * 2) - 1 : value * 2
  end

  def sum(sum, bytes)
    words = bytes.unpack("Q<#{bytes.bytesize / 8}") + bytes.byteslice((bytes.bytesize / 8 * 8)..).unpack("C*")
    words.inject(sum) do |value, word|
      value = ((value ^ word) * 0x100000001b3) & WORD
      value ^ (value >> 32)
    end
  end
end
