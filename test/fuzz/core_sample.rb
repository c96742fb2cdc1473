# frozen_string_literal: true

# A core as small as one can be: libc's data with an arena, its heap with a block of heapline's, heapline's mark, and
# the first page of a program with the linker's list. As an ELF file it has that program's build-id, too.
module CoreSample
  LIBC = 0x7f00_0000_0000
  MARK = 0x7f10_0000_0000
  HEAP = 0x5500_0000_0000
  PROGRAM = 0x5400_0000_0000
  BUILD_ID = [*1..20].pack("C*")
  KEY = 0x1234_5678_9abc_def1
  PAGE = 4096
  MASK = (1 << 64) - 1
  # The next address after it is 0.
  LAST_PAGE = { (1 << 64) - PAGE - 8 => "\0" * PAGE }.freeze

  # more: address => bytes of further memory.
  def self.bytes(more = {})
    notes = note(0x4649_4c45, files) + note(6, [3, PROGRAM + 64, 5, 3, 0, 0].pack("Q*")) + build_id
    parts = { HEAP => heap, LIBC => libc, MARK => mark, PROGRAM => program, **more }
    head = [0x7f, *"ELF".bytes, 2, 1, 1].pack("C*").ljust(16, "\0") +
           [4, 62, 1, 0, 64, 0, 0, 64, 56, parts.size + 1, 0, 0, 0].pack("S2LQ3LS6")
    at = 2 * PAGE
    heads = [[4, 4, PAGE, 0, 0, notes.size, 0, 4].pack("L2Q6")]
    parts.each do |address, memory|
      heads << [1, 6, at, address, 0, memory.size, memory.size, PAGE].pack("L2Q6")
      at += memory.size
    end
    (head + heads.join).ljust(PAGE, "\0") + notes.ljust(PAGE, "\0") + parts.values.join
  end

  def self.note(type, body)
    [5, body.size, type].pack("L3") + "CORE".ljust(8, "\0") + body.ljust((body.size + 3) / 4 * 4, "\0")
  end

  def self.files
    table = [3, PAGE, LIBC, LIBC + PAGE, 0, MARK, MARK + PAGE, 0, PROGRAM, PROGRAM + PAGE, 0].pack("Q*")
    table << "/lib/libc.so.6\0/lib/libheapline.so\0/bin/program\0"
  end

  def self.build_id
    [4, BUILD_ID.size, 3].pack("L3") + "GNU\0#{BUILD_ID}".b
  end

  # Headers of itself, of its dynamic section and of its notes; the first leads to the linker's list of one.
  def self.program
    head = [0x7f, *"ELF".bytes, 2, 1, 1].pack("C*").ljust(16, "\0") +
           [3, 62, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0].pack("S2LQ3LS6")
    headers = [[6, 64, 168], [2, 512, 32], [4, 256, build_id.size]].map do |type, at, size|
      [type, 4, at, at, at, size, size, 4].pack("L2Q6")
    end
    list = [21, PROGRAM + 544, 0, 0, 1, PROGRAM + 576, 0, 0, PROGRAM, PROGRAM + 640, PROGRAM + 512, 0, 0, 0].pack("Q*")
    parts = { 0 => head + headers.join, 256 => build_id, 512 => list, 640 => "program\0" }
    parts.each_with_object("\0".b * PAGE) { |(at, bytes), page| page[at, bytes.bytesize] = bytes }
  end

  # Each bin leads to itself.
  def self.libc
    words = Array.new(PAGE / 8, 0)
    arena = 8
    words[arena + 12] = HEAP + 0x60
    127.times { |i| words[arena + 14 + (2 * i)] = words[arena + 15 + (2 * i)] = LIBC + ((arena + 12 + (2 * i)) * 8) }
    words[arena + 270] = LIBC + (arena * 8)
    words[arena + 273] = words[arena + 274] = PAGE
    words.pack("Q*")
  end

  def self.heap
    block = HEAP + 16
    body = (5 << 44) | (8 << 18)
    check = ((((body >> 17) ^ block ^ KEY) * 0x9e37_79b9_7f4a_7c15) & MASK) >> 47
    words = Array.new(PAGE / 8, 0)
    words[1] = 0x61
    words[12] = body | check
    words[13] = (PAGE - 0x60) | 1
    words.pack("Q*")
  end

  def self.mark
    fields = [MARK + 256, MARK + 264, MARK + 268, MARK + 272, MARK + 280, MARK + 296, MARK + 304].pack("Q*")
    head = ("heapline core 2\0".b + fields).ljust(256, "\0")
    state = [KEY, 0, 1].pack("QL2") + "/tmp\0\0\0\0x.flight".ljust(24, "\0") + [4711, MARK + 512].pack("Q2")
    (head + state).ljust(512, "\0") + flight.ljust(PAGE - 512, "\0")
  end

  # As much as the reader looks at: the magic and the number of pages.
  def self.flight
    "HEAPLINE".ljust(72, "\0") + [4].pack("Q")
  end
end
